/** Lists of the cluster API that nobody manages anything in. */
export const clusterLists: readonly string[] = ['/v1/roles', '/v1/logs']
