/** What of an event stands in an audit: without secrets, and no longer than a line may be. */
import {boundedEvent, boundedWords} from '../../audit/bounds.ts'
import type {AuditEntry, AuditEvent} from '../../audit/entry.ts'
import type {Host} from '../host/host.ts'

/** Who does what a command does, and where: the same in all its lines. */
export type Doer = Pick<AuditEntry, 'actor' | 'ci'>

/**
 * As it is written. Words of ours stay whatever is a secret here, or the line would be none (`apply`) and no run find its
 * own (`2026`).
 */
export function asWritten({redactor}: Pick<Host, 'redactor'>, event: AuditEvent): AuditEvent {
  const {event: name, run, plan, action, state, until, ...said} = event
  // Secrets first: half of one would not be known for one.
  return {
    ...boundedEvent({event: name, ...redactor.value(said)}),
    ...(run === undefined ? {} : {run}),
    ...(plan && {plan: {...plan, ...(plan.approvedBy === undefined ? {} : boundedWords({approvedBy: redactor.text(plan.approvedBy)}))}}),
    ...(action === undefined ? {} : {action}),
    ...(state === undefined ? {} : {state}),
    ...(until === undefined ? {} : {until}),
  }
}

export const doerAsWritten = ({redactor}: Pick<Host, 'redactor'>, {actor, ci}: Doer): Doer => ({
  actor: {...boundedWords(redactor.value(actor)), source: actor.source},
  ...(ci && {ci: boundedWords(redactor.value(ci))}),
})
