/** The one line `svcctl simulator` prints when it is ready (interface.md): where it is and how a client gets in. */
import type {SimulatorConfig} from './config.ts'
import type {ServedSimulator} from './server.ts'

export interface ReadyDocument {
  readonly cloud: string
  readonly cluster: string
  readonly uploads: string
  readonly control: string
  /** Every variable a client needs. */
  readonly env: Readonly<Record<string, string>>
}

/** @param caFile - where the certificate was written; without one a TLS cluster is reached with verification off */
export function readyDocument(served: ServedSimulator, {credentials}: SimulatorConfig, caFile?: string): ReadyDocument {
  const {cloud, cluster, uploads, control} = served
  const trust: Record<string, string> =
    served.certificate === undefined ? {} : caFile === undefined ? {SVC_ENTERPRISE_INSECURE: 'true'} : {SVC_ENTERPRISE_CA_FILE: caFile}
  return {
    cloud,
    cluster,
    uploads,
    control,
    env: {
      SVC_CLOUD_API_URL: cloud,
      SVC_CLOUD_API_KEY: credentials.apiKey,
      SVC_CLOUD_SECRET_KEY: credentials.secretKey,
      SVC_ENTERPRISE_URL: cluster,
      SVC_ENTERPRISE_USER: credentials.username,
      SVC_ENTERPRISE_PASSWORD: credentials.password,
      ...trust,
      SVC_FILES_API_URL: uploads,
      SVC_FILES_API_KEY: credentials.filesApiKey,
    },
  }
}
