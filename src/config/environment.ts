/**
 * The environment, read once at the edge and typed. Nothing else in the program looks at `process.env`.
 * An empty variable counts as absent, as it does in a shell's `${VAR:-default}`.
 */
import {join} from 'node:path'
import {AppError, EXIT} from '../base/errors.ts'
import type {ProcessVariables} from '../base/process-variables.ts'
import {decodedPart, secretsInAddress} from '../base/secret-fields.ts'
import {forgetVariables} from './forget-variables.ts'
import {SOURCE_VARIABLES} from './option-table.ts'
import {isCi, userFolders} from './user-folders.ts'

export type LogLevel = 'quiet' | 'info' | 'debug' | 'trace'

/** A value with the name of its variable, for `-vv` and for warnings. */
export interface FromVariable {
  readonly variable: string
  readonly value: string
}

export interface Environment {
  /** The variables of `option-table.ts` that are set, by their names. */
  readonly sources: Readonly<Record<string, string>>
  /** `SSL_CERT_FILE`: certificates that OpenSSL, curl and Go trust, too. */
  readonly systemCaFile?: string
  /** Contract section 5, "Upload key resolution": the first place and the last. */
  readonly files: {readonly first?: FromVariable; readonly last?: FromVariable; readonly apiUrl?: string; readonly uploadDir?: string}
  /** `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, each also in lower case, which wins as it does in curl. */
  readonly proxy: {readonly http?: string; readonly https?: string; readonly noProxy?: string}
  readonly profile?: string
  readonly configFile: string
  readonly stateDir: string
  /** `SVC_AUDIT_DIR`: where the audits of stacks are kept; absent: beside their runs. */
  readonly auditDir?: string
  readonly logLevel: LogLevel
  readonly ledgerKey?: string
  /** `TF_HTTP_*` with the prefix cut off: `ADDRESS`, `LOCK_ADDRESS`, `PASSWORD`, … */
  readonly terraformHttp: Readonly<Record<string, string>>
  /** `TF_VAR_*` with the prefix cut off. */
  readonly terraformVariables: Readonly<Record<string, string>>
  /** Set to anything but `false` or `0`: nobody is there to answer a question. */
  readonly ci: boolean
  readonly noColor: boolean
  readonly forceColor: boolean
  readonly home: string
  /** Files in which a step of GitHub Actions leaves its summary and its outputs. */
  readonly jobFiles: {readonly summary?: string; readonly output?: string}
  /** What must never be printed: the keys, secrets and passwords among all of these. */
  readonly secrets: readonly string[]
  /** Everything, for what is passed on to child processes and for `${VAR}` in the configuration file. */
  readonly all: ProcessVariables
  /** What others can read of this process is less from now on: only `passed`, and what the system needs. What was read stays. */
  readonly forget: (passed: ProcessVariables) => void
}

/** A variable whose value cannot be understood. */
export class EnvironmentError extends AppError {
  constructor(variable: string, expected: string) {
    super(`the environment variable ${variable} is not ${expected}`, {
      code: 'E_ENVIRONMENT',
      exit: EXIT.usage,
      suggestions: [`Set ${variable} to ${expected}, or unset it.`],
    })
  }
}

const SECRET_VARIABLES = [
  'SVC_CLOUD_API_KEY',
  'SVC_CLOUD_SECRET_KEY',
  'SVC_CLOUD_API_SECRET',
  'SVC_ENTERPRISE_PASSWORD',
  'SVC_ENTERPRISE_FILES_API_KEY',
  'SVC_FILES_API_KEY',
  'SVC_LEDGER_KEY',
  'TF_HTTP_PASSWORD',
  'GITHUB_TOKEN',
  'GH_TOKEN',
  'GITLAB_TOKEN',
]

const ADDRESS_VARIABLES = ['TF_HTTP_ADDRESS', 'TF_HTTP_LOCK_ADDRESS', 'TF_HTTP_UNLOCK_ADDRESS']

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']

/** The password in the address of a proxy, or the user name where there is none: as it stands there and decoded. */
function secretsInProxy(address = ''): readonly string[] {
  const [, user = '', password = ''] = /^(?:[^:/]*:\/\/)?([^:@/]*)(?::([^/]*))?@/.exec(address) ?? []
  const secret = password === '' ? user : password
  return secret === '' ? [] : [secret, decodedPart(secret)]
}

/** @throws EnvironmentError */
export function readEnvironment(all: ProcessVariables): Environment {
  const text = (name: string): string | undefined => all[name] || undefined
  const from = (variable: string): FromVariable | undefined => {
    const value = text(variable)
    return value === undefined ? undefined : {variable, value}
  }
  const {home, folder} = userFolders(all)
  return {
    sources: Object.fromEntries(SOURCE_VARIABLES.flatMap(name => (text(name) === undefined ? [] : [[name, text(name) ?? '']]))),
    files: present({
      first: from('SVC_ENTERPRISE_FILES_API_KEY'),
      last: from('SVC_FILES_API_KEY'),
      apiUrl: text('SVC_FILES_API_URL'),
      uploadDir: text('SVC_FILES_UPLOAD_DIR'),
    }),
    proxy: present({
      http: text('http_proxy') ?? text('HTTP_PROXY'),
      https: text('https_proxy') ?? text('HTTPS_PROXY'),
      noProxy: text('no_proxy') ?? text('NO_PROXY'),
    }),
    ...present({
      systemCaFile: text('SSL_CERT_FILE'),
      profile: text('SVC_PROFILE'),
      ledgerKey: text('SVC_LEDGER_KEY'),
      auditDir: text('SVC_AUDIT_DIR'),
    }),
    configFile: text('SVC_CONFIG_FILE') ?? join(folder('XDG_CONFIG_HOME', '.config'), 'svcctl', 'config.toml'),
    stateDir: text('SVC_STATE_DIR') ?? join(folder('XDG_STATE_HOME', join('.local', 'state')), 'svcctl'),
    logLevel: logLevelOf(text('SVC_LOG')),
    terraformHttp: withPrefix(all, 'TF_HTTP_'),
    terraformVariables: withPrefix(all, 'TF_VAR_'),
    ci: isCi(all),
    noColor: (all.NO_COLOR ?? '') !== '',
    forceColor: !['', 'false', '0'].includes(all.FORCE_COLOR ?? ''),
    home,
    jobFiles: present({summary: text('GITHUB_STEP_SUMMARY'), output: text('GITHUB_OUTPUT')}),
    secrets: [
      ...SECRET_VARIABLES.flatMap(name => text(name) ?? []),
      ...PROXY_VARIABLES.flatMap(name => secretsInProxy(text(name))),
      ...ADDRESS_VARIABLES.flatMap(name => secretsInAddress(text(name) ?? '')),
    ],
    all,
    forget: () => {},
  }
}

/** The environment of this process. The one place that reads it. */
export function processEnvironment(): Environment {
  const all = {...process.env}
  const forget = (passed: ProcessVariables): void =>
    void forgetVariables(new Set(Object.keys(all).filter(name => !Object.hasOwn(passed, name) && !OF_SYSTEM.test(name))))
  return {...readEnvironment(all), forget}
}

/** What libraries of the system look up later: the keyring finds its service by it. */
const OF_SYSTEM = /^(?:DBUS_SESSION_BUS_ADDRESS|DISPLAY|WAYLAND_DISPLAY|XDG_.*|SSL_CERT_(?:FILE|DIR))$/

/** @throws EnvironmentError */
function logLevelOf(text: string | undefined): LogLevel {
  const level = text?.toLowerCase()
  if (level === undefined) return 'quiet'
  if (level === 'info' || level === 'debug' || level === 'trace') return level
  throw new EnvironmentError('SVC_LOG', '"debug" or "trace"')
}

function withPrefix(all: ProcessVariables, prefix: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(all)) {
    if (name.startsWith(prefix) && value !== undefined) found[name.slice(prefix.length)] = value
  }
  return found
}

type Present<T> = {[K in keyof T]?: Exclude<T[K], undefined>}

/** The same object without its `undefined` fields. */
function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>
}
