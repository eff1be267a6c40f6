/** Where a stack's ledger lies: Terraform's `backend` block. */
import {isJsonObject, type Json} from '../../base/json.ts'
import type {LedgerLocation} from '../../engine/model/declaration.ts'
import {local} from '../../ledger/backends/local.ts'
import {BACKEND_WORDS, LEDGER_BACKENDS} from '../../ledger/backends/registry.ts'
import {hint} from '../language/hint.ts'
import type {Problems} from './problems.ts'
import {blocksIn, type StackDocument} from './stack-document.ts'

/** Without a backend: a file beside cdktf.json. */
export function ledgerOf(document: StackDocument, problems: Problems): LedgerLocation {
  const found = document.terraform.flatMap(({body, source}) => {
    const place = {stack: document.name, address: 'terraform.backend', source}
    for (const word of ['cloud', 'remote']) {
      if (body[word] !== undefined) problems.add(place, `svcctl keeps no ledger in ${word}: use the backend ${BACKEND_WORDS}`)
    }
    return blocksIn(body.backend).flatMap(backends =>
      Object.entries(backends).map(([type, value]) => ({type, body: blocksIn(value)[0] ?? {}, place})),
    )
  })
  const [backend, second] = found
  if (backend === undefined) return local.read({}, {stack: document.name, say: () => {}, warn: () => {}})
  if (second) problems.add(second.place, 'a stack has one backend')
  const {type, body, place} = backend
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'string' && /\$\{/.test(value))
      problems.add(place, `${name} of the backend ${type} must be a literal, as Terraform has it`)
    if (typeof value === 'string' && value.includes('\0')) problems.add(place, `${name} of the backend ${type} has a NUL character in it`)
  }
  const known = LEDGER_BACKENDS.get(type)
  if (known === undefined) problems.add(place, `svcctl keeps no ledger in a backend ${JSON.stringify(type)}: use ${BACKEND_WORDS}`)
  else {
    const names = Object.keys(known.arguments)
    for (const name of Object.keys(body))
      if (name !== '//' && !names.includes(name))
        problems.add(place, `svcctl does not know ${name} of the backend ${type}${hint(name, names)}`)
  }
  return (known ?? local).read(known === undefined ? {} : body, {
    stack: document.name,
    say: problem => problems.add(place, problem),
    warn: problem => problems.warn(place, problem),
  })
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
  const [cloud, cluster] = [target(metadata.cloud), target(metadata.cluster)]
  return {...(cloud && {cloud}), ...(cluster && {cluster})}
}
