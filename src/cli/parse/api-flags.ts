/** Options of `svcctl api`, and which of them exclude each other. */
import {UsageError} from '../../base/usage-error.ts'
import type {OutputFormat} from '../../report/output-format.ts'
import {maxSizeFlag} from './flags.ts'
import {Flags} from './oclif.ts'
import {ExcludingOptionsError} from './usage-error.ts'

const text = Flags.string

export const apiFlags = {
  data: text({summary: 'body of the request: JSON, @file, or @- for standard input', helpValue: '<json>'}),
  'query-params': text({
    summary: 'query of the request: name=value pairs joined by &',
    helpValue: '<pairs>',
    multiple: true,
    multipleNonGreedy: true,
  }),
  headers: text({summary: 'further header: "Name: value"', helpValue: '<header>', multiple: true, multipleNonGreedy: true}),
  paginate: Flags.boolean({summary: 'read a list to its end, page by page, and print all of its rows'}),
  wait: Flags.boolean({summary: 'follow the task or action that the request starts to its end'}),
  include: Flags.boolean({summary: 'print status and headers of the answer too'}),
  raw: Flags.boolean({summary: "print the body's bytes unchanged, secrets included"}),
  ...maxSizeFlag,
  curl: Flags.boolean({summary: 'print the request as a curl command, and send nothing'}),
  'dry-run': Flags.boolean({summary: 'check and print the request, and send nothing'}),
}

/** In this order of words, for messages. */
const EXCLUDING = [
  ['raw', 'paginate'],
  ['raw', 'wait'],
  ['raw', 'query'],
  ['raw', 'output'],
  ['paginate', 'wait'],
  ['paginate', 'include'],
  ['paginate', 'data'],
  ['curl', 'dry-run'],
] as const

type Given = Readonly<Record<string, unknown>> & {readonly output?: OutputFormat | undefined}

/** @throws UsageError */
export function checkApiFlags(flags: Given): void {
  const given = (name: string) => flags[name] !== undefined && flags[name] !== false
  for (const [one, other] of EXCLUDING) {
    if (given(one) && given(other)) throw new ExcludingOptionsError(one, other)
  }
  if (given('max-size') && !given('raw'))
    throw new UsageError('--max-size is about what --raw writes as it comes', [
      'Give --raw too, or bound what is held in memory: --max-response.',
    ])
}
