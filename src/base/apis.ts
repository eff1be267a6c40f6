/** The two APIs there are. */
export const APIS = ['cloud', 'cluster'] as const

export type Api = (typeof APIS)[number]
