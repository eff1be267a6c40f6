/** Options that several commands share, defined once. No option reads a variable: the order of sources is `config`'s. */
import {parseDuration} from '../../base/duration.ts'
import {parseSizeBytes} from '../../base/units.ts'
import {UsageError} from '../../base/usage-error.ts'
import {commitIn} from '../../config/ci-job.ts'
import type {CredentialFlags} from '../../config/connection.ts'
import type {SettingFlags} from '../../config/settings.ts'
import {OUTPUT_FORMATS} from '../../report/output-format.ts'
import {Flags} from './oclif.ts'

/** `200ms`, `5s`, `30m`; the value is milliseconds. */
export const durationFlag = Flags.custom<number>({helpValue: '<duration>', parse: async text => parseDuration(text)})

/** As `durationFlag`, above zero: a pause of nothing would be no pause, and an answer takes time. */
export const pauseFlag = Flags.custom<number>({
  helpValue: '<duration>',
  parse: async text => {
    const ms = parseDuration(text)
    if (ms === 0) throw new UsageError('a length of time above zero is needed', [])
    return ms
  },
})

/** `64MiB`, `1GB`; the value is bytes. */
export const sizeFlag = Flags.custom<number>({
  helpValue: '<size>',
  parse: async text => {
    const bytes = parseSizeBytes(text)
    if (bytes === 0) throw new UsageError('a size above zero is needed', [])
    return bytes
  },
})

/** A number above zero. */
export const positiveFlag = Flags.custom<number>({
  helpValue: '<number>',
  parse: async text => {
    const value = Number(text)
    if (!(text.trim() !== '' && Number.isFinite(value) && value > 0)) throw new UsageError('a number above zero is needed', [])
    return value
  },
})

/** A whole number within limits that belong to the option. */
export const wholeNumberFlag = Flags.custom<number, {min?: number; max?: number}>({
  helpValue: '<number>',
  parse: async (text, _, {min = 0, max = Number.MAX_SAFE_INTEGER}) => {
    const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    const upTo = max === Number.MAX_SAFE_INTEGER ? 'up' : `to ${max}`
    throw new UsageError(`a whole number from ${min} ${upTo} is needed`, [])
  },
})

/** As many digits of a plan's hash, and of a commit, as nobody finds by trying. */
export const approvalFlag = Flags.custom<string>({
  helpValue: '<hash[@commit]>',
  parse: async text => {
    const approval = text.trim().toLowerCase()
    if (!/^[0-9a-f]{12,64}(@|$)/.test(approval))
      throw new UsageError(`a plan is named by 12 to 64 hexadecimal digits of its hash, and this is ${JSON.stringify(text)}`, [
        'Take the hash from: svcctl show FILE -q hash -o text',
      ])
    if (!/^[^@]*(@[0-9a-f]{8,64})?$/.test(approval))
      throw new UsageError(`after the @ of an approval stand 8 to 64 hexadecimal digits of a commit, and this is ${JSON.stringify(text)}`, [
        'Take the approval from the report of the plan, or leave the commit out: --approve HASH',
      ])
    return approval
  },
})

/** A commit as git prints it: all of its digits, or as many as name it. */
export const commitFlag = Flags.custom<string>({
  helpValue: '<commit>',
  parse: async text => {
    const commit = commitIn(text)
    if (commit === undefined)
      throw new UsageError(`a commit is 8 to 64 hexadecimal digits, and this is ${JSON.stringify(text)}`, [
        'Take it from: git rev-parse HEAD',
      ])
    return commit
  },
})

/** On every command. */
export const outputFlags = {
  output: Flags.option({char: 'o', options: OUTPUT_FORMATS, summary: 'form of the result', helpGroup: 'OUTPUT', helpValue: '<format>'})(),
  query: Flags.string({char: 'q', summary: 'JMESPath expression applied to the result', helpGroup: 'OUTPUT', helpValue: '<jmespath>'}),
  verbose: Flags.boolean({char: 'v', summary: 'say more on standard error; twice: which credentials are in use', helpGroup: 'OUTPUT'}),
}

/** On every command that talks to a server. */
export const serverFlags = {
  profile: Flags.string({summary: 'named profile to use', helpGroup: 'CONNECTION', helpValue: '<name>'}),
  rate: positiveFlag({summary: 'most requests per minute that svcctl sends', helpGroup: 'CONNECTION'}),
  burst: positiveFlag({summary: 'requests that may be sent at once after a pause', helpGroup: 'CONNECTION'}),
  'poll-interval': pauseFlag({summary: 'shortest pause between two looks at the same thing', helpGroup: 'CONNECTION'}),
  timeout: pauseFlag({summary: 'how long one operation may take', helpGroup: 'CONNECTION'}),
  'request-timeout': pauseFlag({summary: 'how long one request may take', helpGroup: 'CONNECTION'}),
  'max-response': sizeFlag({summary: 'largest answer that is held in memory', helpGroup: 'CONNECTION'}),
}

/** Third of the contract's sources; `-` reads a secret from standard input. */
export const cloudCredentialFlags = {
  'api-url': Flags.string({summary: 'address of the cloud API', helpGroup: 'CREDENTIALS', helpValue: '<url>'}),
  'api-key': Flags.string({summary: 'key of the cloud API; - reads standard input', helpGroup: 'CREDENTIALS', helpValue: '<key>'}),
  'api-secret': Flags.string({summary: 'secret of the cloud API; - reads standard input', helpGroup: 'CREDENTIALS', helpValue: '<secret>'}),
}

export const clusterCredentialFlags = {
  url: Flags.string({summary: 'address of the cluster', helpGroup: 'CREDENTIALS', helpValue: '<url>'}),
  username: Flags.string({summary: 'user name on the cluster', helpGroup: 'CREDENTIALS', helpValue: '<name>'}),
  password: Flags.string({summary: 'password on the cluster; - reads standard input', helpGroup: 'CREDENTIALS', helpValue: '<password>'}),
  insecure: Flags.boolean({summary: "do not verify the cluster's certificate", helpGroup: 'CREDENTIALS'}),
}

/** Unlike credentials it wins over the environment and the profile (`config/option-table.ts`). */
const trustFlags = {
  'ca-file': Flags.string({summary: 'certificates to trust beside the built-in ones (PEM)', helpGroup: 'CONNECTION', helpValue: '<file>'}),
}

export const cloudFlags = {...serverFlags, ...trustFlags, ...cloudCredentialFlags}
export const clusterFlags = {...serverFlags, ...trustFlags, ...clusterCredentialFlags}
export const bothApisFlags = {...serverFlags, ...trustFlags, ...cloudCredentialFlags, ...clusterCredentialFlags}

/** On what writes an answer somewhere as it comes, and holds none of it. */
export const maxSizeFlag = {
  'max-size': sizeFlag({summary: 'largest answer that is written while it arrives', helpGroup: 'CONNECTION'}),
}

/** For what destroys without a plan: `profile remove`, `module delete`. */
export const yesFlag = {yes: Flags.boolean({char: 'y', summary: 'do not ask'})}

/** Parsed values of any of the flag sets above. */
export interface ConnectionFlagValues {
  readonly profile?: string | undefined
  readonly rate?: number | undefined
  readonly burst?: number | undefined
  readonly reserve?: number | undefined
  readonly 'poll-interval'?: number | undefined
  readonly timeout?: number | undefined
  readonly 'request-timeout'?: number | undefined
  readonly 'max-response'?: number | undefined
  readonly 'max-destroy'?: string | undefined
  readonly 'refuse-risky'?: boolean | undefined
  readonly 'on-drift'?: SettingFlags['onDrift']
  readonly 'api-url'?: string | undefined
  readonly 'api-key'?: string | undefined
  readonly 'api-secret'?: string | undefined
  readonly url?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly insecure?: boolean | undefined
  readonly 'ca-file'?: string | undefined
  readonly subscription?: string | undefined
  readonly database?: string | undefined
}

/** The same in the words of `config`. A switch that was not given is absent, not false. */
export const connectionFlagsFrom = (flags: ConnectionFlagValues): CredentialFlags & SettingFlags => ({
  rate: flags.rate,
  burst: flags.burst,
  reserve: flags.reserve,
  pollIntervalMs: flags['poll-interval'],
  timeoutMs: flags.timeout,
  requestTimeoutMs: flags['request-timeout'],
  maxResponseBytes: flags['max-response'],
  maxDestroy: flags['max-destroy'],
  refuseRisky: flags['refuse-risky'],
  onDrift: flags['on-drift'],
  apiUrl: flags['api-url'],
  apiKey: flags['api-key'],
  apiSecret: flags['api-secret'],
  url: flags.url,
  username: flags.username,
  password: flags.password,
  insecure: flags.insecure || undefined,
  caFile: flags['ca-file'],
  subscription: flags.subscription,
  database: flags.database,
})
