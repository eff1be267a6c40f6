/** Addresses of the simulated services: the ones in process are names that no network resolves. */
export interface Bases {
  /** Ends in `/v1`. */
  readonly cloud: string
  readonly cluster: string
  readonly uploads: string
  /** Where the parts of an upload go: another origin than the upload API. */
  readonly parts: string
  readonly control: string
}

export const SIMULATED: Bases = {
  cloud: 'http://cloud.simulator/v1',
  cluster: 'https://cluster.simulator:9443',
  uploads: 'http://uploads.simulator',
  parts: 'http://parts.simulator',
  control: 'http://control.simulator',
}

export type ApiName = keyof Bases
export const API_NAMES = ['cloud', 'cluster', 'uploads', 'parts', 'control'] as const satisfies readonly ApiName[]
