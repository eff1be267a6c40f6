/** The variable our constructs add so that plain Terraform stops; whoever reads a stack passes over it. */
export const CHECK_VARIABLE = 'svcctl_only'
