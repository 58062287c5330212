#include "core/cluster/policy.h"

double view_done_us(const struct view *v, int32_t job)
{
    double done = v->jobs->done_us[job];
    if (v->jobs->status[job] == JOB_RUNNING && v->now_us > v->stay[job].since_us)
        done += (double)(v->now_us - v->stay[job].since_us) * v->stay[job].speed;
    return done;
}

double view_left_us(const struct view *v, int32_t job)
{
    double left = (double)job_duration_us(v->jobs, job) - view_done_us(v, job);
    return left > 0 ? left : 0;
}

int64_t view_attained_milli_us(const struct view *v, int32_t job)
{
    int64_t attained = v->jobs->attained_milli_us[job];
    if (v->jobs->status[job] == JOB_RUNNING)
        attained += (v->now_us - v->stay[job].held_since_us) * v->stay[job].held_milli;
    return attained;
}
