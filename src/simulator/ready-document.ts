/** The one line `svcctl simulator` prints when it is ready (interface.md): where it is and how a client gets in. */
import type {SimulatorConfig} from './base/config.ts'
import type {ServedSimulator} from './server.ts'

export interface ReadyDocument {
  readonly cloud: string
  readonly cluster: string
  readonly uploads: string
  readonly control: string
  /** Every variable a client needs. */
  readonly env: Readonly<Record<string, string>>
}

/** A TLS cluster whose certificate was written to no file is reached with verification off. */
export function readyDocument(served: ServedSimulator, {credentials}: SimulatorConfig): ReadyDocument {
  const {cloud, cluster, uploads, control} = served
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
      ...trust(served),
      SVC_FILES_API_URL: uploads,
      SVC_FILES_API_KEY: credentials.filesApiKey,
    },
  }
}

function trust({certificate, certificateFile}: ServedSimulator): Record<string, string> {
  if (certificate === undefined) return {}
  return certificateFile === undefined ? {SVC_ENTERPRISE_INSECURE: 'true'} : {SVC_ENTERPRISE_CA_FILE: certificateFile}
}
