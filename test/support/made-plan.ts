/** Plans as documents, made in a line: for what reads them and needs no servers. */
import type {Change, GuardResult, Operation, Plan} from '../../src/engine/model/plan.ts'
import {hashOf, summaryOf} from '../../src/engine/plan/document.ts'

export const operation = (local: string, given: Partial<Operation> = {}): Operation => ({
  stack: 'shop',
  address: `null_resource.${local}`,
  kind: 'cloud.database',
  action: 'create',
  cause: 'not-there',
  reason: 'it is not there yet',
  name: local,
  construct: `shop/${local}`,
  changes: [],
  because: [],
  edges: [],
  ...given,
})

export const created = (local: string, fields: number, given: Partial<Operation> = {}): Operation =>
  operation(local, {
    changes: Array.from({length: fields}, (_, at): Change => ({path: `/field${at}`, after: `value ${at} of ${local}`})),
    ...given,
  })

export const updated = (local: string, given: Partial<Operation> = {}): Operation =>
  operation(local, {
    action: 'update',
    cause: 'changed-in-git',
    reason: 'the declaration changed',
    remoteId: `cloud/subscriptions/1/databases/${local}`,
    changes: [{path: '/memoryLimitInGb', before: 1, after: 2, moved: 'in git'}],
    ...given,
  })

export const deleted = (local: string, given: Partial<Operation> = {}): Operation =>
  operation(local, {
    action: 'delete',
    cause: 'not-declared',
    reason: 'no longer declared',
    remoteId: `cloud/subscriptions/1/databases/${local}`,
    origin: 'created',
    ...given,
  })

export interface MadePlan {
  readonly operations: readonly Operation[]
  readonly stacks?: readonly string[]
  readonly guards?: readonly GuardResult[]
  readonly more?: Partial<Plan>
}

export function madePlan({operations, stacks = ['shop'], guards = [], more = {}}: MadePlan): Plan {
  const plan: Omit<Plan, 'hash'> = {
    format: 'svcctl.plan/1',
    tool: 'svcctl 0.1.0',
    stacks: stacks.map(name => ({
      name,
      ledger: {type: 'local', file: `terraform.${name}.tfstate`},
      ledgerCondition: 'present',
      targets: {},
      owned: operations.length,
      declared: operations.filter(it => it.action !== 'delete').length,
      outputs: [],
    })),
    accounts: {},
    declarationsDigest: 'a'.repeat(64),
    scope: 'all',
    selectors: {target: [], exclude: []},
    lifts: {allowDestroy: [], adopt: [], accept: [], skipBlocked: false, onDrift: 'overwrite', noDestroy: false, refuseRisky: false},
    facts: [{api: 'cloud', kind: 'cloud.database', path: '/subscriptions/1/databases', rows: 3, digest: 'b'.repeat(64)}],
    operations,
    summary: summaryOf(operations),
    unmanaged: 0,
    notes: [],
    guards,
    requests: {used: 7, avoided: 3},
    bill: {requests: 40, seconds: 130, bound: 'rate', ready: {requests: 30, seconds: 100, bound: 'rate'}},
    ...more,
  }
  return {...plan, hash: hashOf(plan)}
}

/** Text that means something to every reader there is. */
export const HOSTILE = [
  '`',
  '```',
  '|',
  '||',
  '<details>',
  '</details>',
  '</summary>',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '-->',
  '<!--',
  '@everyone',
  '#1',
  '!2',
  '/close',
  '::error::owned',
  '%0A::set-output name=hash::x',
  '##[add-mask]x',
  ']]>',
  '&amp;',
  '"',
  "'",
  '\\',
  '\n### owned\n',
  '\r\n',
  '\u001b[31m',
  '\u202e',
  '\u0000',
  '\ufffe',
  '\ud800',
  'https://evil.example',
  '$(rm -rf /)',
  '${{ secrets.X }}',
  '*b*',
  '_i_',
  '[a](b)',
  '~~~',
].join(' ')
