/** Options of the commands that work on stacks. */

import {bothApisFlags, commitFlag, durationFlag, wholeNumberFlag} from './flags.ts'
import {Flags} from './oclif.ts'

const STACKS = 'STACKS'
const SAFETY = 'SAFETY'

/** Where the stacks come from. */
export const synthesisFlags = {
  'synth-dir': Flags.string({summary: 'read this folder instead of running the app of cdktf.json', helpGroup: STACKS, helpValue: '<dir>'}),
  'synth-env': Flags.string({
    summary: 'environment variable that the app may see, by name or glob',
    helpGroup: STACKS,
    helpValue: '<name>',
    multiple: true,
    multipleNonGreedy: true,
  }),
  var: Flags.string({
    summary: 'value of a variable; for one stack: STACK:NAME=VALUE',
    helpGroup: STACKS,
    helpValue: '<name=value>',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'var-file': Flags.string({
    summary: 'file with values (.tfvars or JSON); for one stack: STACK=FILE',
    helpGroup: STACKS,
    helpValue: '<file>',
    multiple: true,
    multipleNonGreedy: true,
  }),
}

export const stackFlags = {
  ...synthesisFlags,
  stack: Flags.string({
    summary: 'stack by name or glob',
    helpGroup: STACKS,
    helpValue: '<name>',
    multiple: true,
    multipleNonGreedy: true,
  }),
}

/** Which ledger, where it is not the one that a stack's backend names. */
export const stateFlag = {
  state: Flags.string({summary: 'file of the ledger', helpGroup: STACKS, helpValue: '<file>'}),
}

/** Of commands that write ledgers, and nothing else. */
export const ledgerFlags = {
  ...stateFlag,
  'lock-timeout': durationFlag({summary: 'how long to wait while somebody else holds the lock', helpGroup: STACKS, default: 0}),
  'max-requests': wholeNumberFlag({summary: 'refuse to send more requests than this', helpGroup: 'CONNECTION', min: 0}),
  reserve: wholeNumberFlag({summary: 'requests left free for people on call', helpGroup: 'CONNECTION', min: 0}),
}

/** Those of `selectionFlags` that say which objects and which ledger: `validate` takes them too. */
export const validateFlags = {
  ...stateFlag,
  target: Flags.string({
    summary: 'only this object and what it depends on',
    helpGroup: STACKS,
    helpValue: '<object>',
    multiple: true,
    multipleNonGreedy: true,
  }),
  exclude: Flags.string({
    summary: 'leave out this object and what depends on it',
    helpGroup: STACKS,
    helpValue: '<object>',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'lock-timeout': durationFlag({summary: 'how long to wait while somebody else holds the lock', helpGroup: STACKS, default: 0}),
}

export const selectionFlags = {
  ...validateFlags,
  'max-requests': wholeNumberFlag({summary: 'refuse to send more requests than this', helpGroup: 'CONNECTION', min: 0}),
  reserve: wholeNumberFlag({summary: 'requests left free for people on call', helpGroup: 'CONNECTION', min: 0}),
}

export const guardFlags = {
  'allow-destroy': Flags.string({
    summary: "allow delete and replace of an object or a kind ('*' for all)",
    helpGroup: SAFETY,
    helpValue: '<object|kind>',
    multiple: true,
    multipleNonGreedy: true,
  }),
  adopt: Flags.string({
    summary: "take over and change objects that were found by name: an object or a kind ('*' for all)",
    helpGroup: SAFETY,
    helpValue: '<object|kind>',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'max-destroy': Flags.string({
    summary: 'most objects that may be deleted: a number, a percentage of those owned, or both',
    helpGroup: SAFETY,
    helpValue: '<n|n%>',
  }),
  'no-destroy': Flags.boolean({summary: 'create and update only', helpGroup: SAFETY}),
  'refuse-risky': Flags.boolean({allowNo: true, summary: 'refuse changes that may lose data or availability', helpGroup: SAFETY}),
  'on-drift': Flags.option({
    summary: 'what to do about fields somebody changed since the last apply',
    helpGroup: SAFETY,
    options: ['overwrite', 'refuse', 'keep'] as const,
  })(),
  'skip-blocked': Flags.boolean({summary: 'leave out what the API cannot do, and do the rest', helpGroup: SAFETY}),
  'skip-held': Flags.boolean({summary: 'leave out what somebody holds (svcctl hold), and do the rest', helpGroup: SAFETY}),
  accept: Flags.string({
    summary: 'record a blocked object as being as declared, without a request',
    helpGroup: SAFETY,
    helpValue: '<object>',
    multiple: true,
    multipleNonGreedy: true,
  }),
}

/** What a plan is made from, where the CI job does not say. */
export const commitFlags = {
  commit: commitFlag({summary: "commit the plan is made from; default: the CI job's", helpGroup: STACKS}),
}

export const savedPlanFlags = {
  out: Flags.string({summary: 'save the plan, for svcctl apply FILE', helpValue: '<file>'}),
  'valid-for': durationFlag({summary: 'how long the saved plan may be applied'}),
  ...commitFlags,
}

export const approvalFlags = {
  'auto-approve': Flags.boolean({summary: 'do not ask', helpGroup: SAFETY}),
}

/** Of `apply` and `destroy`. */
export const HASH_LIFTS =
  'At a terminal the question may ask for the hash of the plan: typing it lifts the guards G_PROTECTED, G_ADOPTED and G_NO_LEDGER for the objects of that plan, as --allow-destroy does.\n'

/** A plan takes it too: its bill says how long the apply will be. */
const inflightFlags = {
  'max-inflight': wholeNumberFlag({summary: 'most changes running at once', helpGroup: 'CONNECTION', min: 1, aliases: ['parallelism']}),
}

export const foreignFlags = {
  foreign: Flags.option({
    summary: 'what to do while somebody else is changing planned objects',
    helpGroup: SAFETY,
    options: ['wait', 'refuse', 'ignore'] as const,
    default: 'wait' as const,
  })(),
  wait: Flags.boolean({
    summary: 'wait for the tasks; --no-wait ends once they have started (exit 4)',
    helpGroup: 'CONNECTION',
    default: true,
    allowNo: true,
  }),
}

export const applyFlags = {...approvalFlags, ...foreignFlags}

export const planningFlags = {...bothApisFlags, ...inflightFlags, ...stackFlags, ...selectionFlags, ...guardFlags}

const but = <F extends object>(flag: F, other: {readonly summary?: string; readonly hidden?: boolean}): F => ({...flag, ...other})

/** Where everything goes, an object is chosen with what stands on it, and there is nothing to take over or to keep. */
export const destroyFlags = {
  ...planningFlags,
  target: but(planningFlags.target, {summary: 'only this object and what depends on it'}),
  exclude: but(planningFlags.exclude, {summary: 'leave out this object and what it depends on'}),
  adopt: but(planningFlags.adopt, {hidden: true}),
  'no-destroy': but(planningFlags['no-destroy'], {hidden: true}),
}
