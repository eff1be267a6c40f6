/** Options of `hold` and `freeze`. */
import {Flags} from './oclif.ts'

export const saidFlags = {
  until: Flags.string({
    summary: 'until when: a moment (2026-12-01T08:00:00Z) or a length of time (4h, 7d), at most 90 days',
    helpValue: '<when>',
    required: true,
  }),
  reason: Flags.string({summary: 'why, for whoever meets it', helpValue: '<text>', required: true}),
  by: Flags.string({summary: "who says so; default: the CI job's actor, or you", helpValue: '<name>'}),
}

export const accountFlags = {
  account: Flags.boolean({summary: 'the account instead of a stack', helpGroup: 'STACKS', exclusive: ['stack']}),
  profile: Flags.string({summary: 'the account of this profile', helpGroup: 'CONNECTION', helpValue: '<name>'}),
}
