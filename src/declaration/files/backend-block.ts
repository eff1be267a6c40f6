/** Where a stack's ledger lies: Terraform's `backend` block. */
import {isAbsolute} from 'node:path'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {secretsInAddress} from '../../base/secret-fields.ts'
import type {LedgerLocation} from '../../engine/model/declaration.ts'
import {hint} from '../language/hint.ts'
import type {Problems} from './problems.ts'
import {blocksIn, type StackDocument} from './stack-document.ts'

const HTTP_FIELDS = [
  'address',
  'lock_address',
  'unlock_address',
  'lock_method',
  'unlock_method',
  'update_method',
  'username',
  'password',
  'skip_cert_verification',
  'retry_max',
  'retry_wait_min',
  'retry_wait_max',
] as const

/** Without a backend: a file beside cdktf.json. */
export function ledgerOf(document: StackDocument, problems: Problems): LedgerLocation {
  const file = `terraform.${document.name}.tfstate`
  const found = document.terraform.flatMap(({body, source}) => {
    const place = {stack: document.name, address: 'terraform.backend', source}
    for (const word of ['cloud', 'remote']) {
      if (body[word] !== undefined) problems.add(place, `svcctl keeps no ledger in ${word}: use the backend local or http`)
    }
    return blocksIn(body.backend).flatMap(backends =>
      Object.entries(backends).map(([type, value]) => ({type, body: blocksIn(value)[0] ?? {}, place})),
    )
  })
  const [backend, second] = found
  if (backend === undefined) return {type: 'local', file}
  if (second) problems.add(second.place, 'a stack has one backend')
  const {type, body, place} = backend
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'string' && /\$\{/.test(value))
      problems.add(place, `${name} of the backend ${type} must be a literal, as Terraform has it`)
  }
  if (type === 'local') {
    const {path} = body
    return {type: 'local', file: typeof path === 'string' && path !== '' ? ledgerFile(path) : file}
  }
  if (type !== 'http') {
    problems.add(place, `svcctl keeps no ledger in a backend ${JSON.stringify(type)}: use local or http`)
    return {type: 'local', file}
  }
  for (const name of Object.keys(body)) {
    if (name === '//') continue
    if (!HTTP_FIELDS.some(field => field === name))
      problems.add(place, `svcctl does not know ${name} of the backend http${hint(name, HTTP_FIELDS)}`)
  }
  for (const name of ['address', 'lock_address', 'unlock_address'] as const) {
    if (typeof body[name] === 'string' && secretsInAddress(body[name]).length > 0)
      problems.add(
        place,
        `${name} of the backend http holds a secret, and a plan shows the addresses of its ledgers: set TF_HTTP_USERNAME and TF_HTTP_PASSWORD, or leave ${name} out and set TF_HTTP_${name.toUpperCase()}`,
      )
  }
  if (typeof body.password === 'string' && body.password !== '') {
    problems.warn(place, 'the password of the backend http is not read from the stack: set TF_HTTP_PASSWORD')
  }
  return httpLedger(body)
}

/**
 * Of a relative path only the file name counts: rendered folders come and go. So it is with what cdktf writes where a
 * stack says nothing, the absolute path of the folder that its app ran in.
 */
export function ledgerFile(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? path
  return isAbsolute(path) && !/^terraform\..+\.tfstate$/.test(name) ? path : name
}

function httpLedger(body: JsonObject): LedgerLocation {
  const text = (value: Json | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
  const number = (value: Json | undefined): number | undefined =>
    typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : undefined
  const fields = {
    address: text(body.address),
    lockAddress: text(body.lock_address),
    unlockAddress: text(body.unlock_address),
    lockMethod: text(body.lock_method),
    unlockMethod: text(body.unlock_method),
    updateMethod: text(body.update_method),
    username: text(body.username),
    skipCertVerification: body.skip_cert_verification === true || body.skip_cert_verification === 'true' ? true : undefined,
    retryMax: number(body.retry_max),
    retryWaitMinSeconds: number(body.retry_wait_min),
    retryWaitMaxSeconds: number(body.retry_wait_max),
  }
  return {type: 'http', ...defined(fields)}
}

/** Without the fields that are undefined. */
function defined<T extends object>(fields: T): {[K in keyof T]?: Exclude<T[K], undefined>} {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

/** `"//": {"svcctl": {"cloud": {"profile"}, "cluster": {}}}` */
export function targetsOf({metadata}: StackDocument) {
  const target = (value: Json | undefined) => {
    if (!isJsonObject(value)) return undefined
    const {profile, account} = value
    return {
      ...(typeof profile === 'string' ? {profile} : {}),
      ...(typeof account === 'string' || typeof account === 'number' ? {account: String(account)} : {}),
    }
  }
  return defined({cloud: target(metadata.cloud), cluster: target(metadata.cluster)})
}
