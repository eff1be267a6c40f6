/** One name for an object, whoever speaks of it: a remote path names one within an account. */

import {parentRemoteId} from '../model/kind.ts'
import type {Operation} from '../model/plan.ts'
import type {PlanInput} from './plan-input.ts'

type Input = Pick<PlanInput, 'kinds' | 'accountOf'>

/** An object in the account that a stack speaks to. */
export function objectAt({kinds, accountOf}: Input, stack: string, kind: string, remoteId: string): string {
  const api = kinds.get(kind)?.api
  return `${(api && accountOf?.(stack, api)) ?? ''} ${remoteId}`
}

type Meant = Pick<Operation, 'stack' | 'kind' | 'remoteId'>

/** What an operation is about, where that is there already. */
export const objectOf = (input: Input, {stack, kind, remoteId}: Meant): string | undefined =>
  remoteId === undefined ? undefined : objectAt(input, stack, kind, remoteId)

/** What the object of an operation lives in. */
export function parentObjectOf(input: Input, {stack, kind, remoteId}: Meant): string | undefined {
  const parent = remoteId === undefined ? undefined : parentRemoteId(input, remoteId)
  return parent === undefined ? undefined : objectAt(input, stack, kind, parent)
}
