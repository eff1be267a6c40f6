/** Options of `hold` and `freeze`. */
import {Flags} from './oclif.ts'

export const saidFlags = {
  until: Flags.string({
    summary: 'end: a time (2026-12-01T08:00:00Z) or a duration (4h, 7d), at most 90 days',
    helpValue: '<when>',
    required: true,
  }),
  reason: Flags.string({summary: 'why; shown to everybody whom it stops', helpValue: '<text>', required: true}),
  by: Flags.string({summary: "who is responsible; default: the CI job's actor, or you", helpValue: '<name>'}),
}

export const accountFlags = {
  account: Flags.boolean({summary: 'the account instead of a stack', helpGroup: 'STACKS', exclusive: ['stack']}),
  profile: Flags.string({summary: 'the account of this profile', helpGroup: 'CONNECTION', helpValue: '<name>'}),
}
