/** The two APIs there are. */
export const APIS = ['cloud', 'cluster'] as const

export type Api = (typeof APIS)[number]

/** What the configuration file and `api` call them. */
export const DEPLOYMENTS = ['cloud', 'enterprise'] as const

export type Deployment = (typeof DEPLOYMENTS)[number]
