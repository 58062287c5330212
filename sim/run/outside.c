#include "sim/run/outside.h"

#include "policies/registry.h"

#include <dlfcn.h>
#include <string.h>

bool outside_is_path(const char *name)
{
    return strncmp(name, "exec:", 5) != 0 && strchr(name, '/') != NULL;
}

enum status outside_load(const char *path, const struct policy **out, struct error *err)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        return fail(err, ST_USAGE, "policy %s", dlerror());
    const struct policy *policy = dlsym(object, "colosim_policy");
    if (policy == NULL)
        return fail(err, ST_USAGE, "policy %s: it exports no colosim_policy", path);
    if (policy->abi != POLICY_ABI)
        return fail(
            err, ST_USAGE,
            "policy %s: built for ABI %d, this program has %d; build it against the headers "
            "of colosim " COLOSIM_VERSION,
            path, policy->abi, (int)POLICY_ABI);
    if (policy->name == NULL || policy->name[0] == '\0' || policy->decide == NULL)
        return fail(err, ST_USAGE, "policy %s: it has no name or no decide", path);
    if (policy_find(policy->name) != NULL)
        return fail(err, ST_USAGE, "policy %s: there is a policy '%s' already", path, policy->name);
    *out = policy;
    return ST_OK;
}
