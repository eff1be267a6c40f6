/** Questions, asked on standard error and only where somebody can answer. */
import {AppError, EXIT} from '../base/errors.ts'
import {UsageError} from '../base/usage-error.ts'
import {readWholeStream} from '../base/whole-file.ts'
import type {Context, InputStream} from './shell/context.ts'
import {isInteractive} from './shell/context.ts'

/** Nobody said yes. */
export class NotConfirmedError extends AppError {
  constructor(question: string, allow: string, interactive: boolean) {
    super(interactive ? 'not confirmed: nothing was done' : `not confirmed: without a terminal svcctl cannot ask "${question}"`, {
      code: 'E_NOT_CONFIRMED',
      exit: EXIT.refused,
      // Somebody who said no knows what they do.
      suggestions: interactive ? [] : [`Run the command again with ${allow} to go ahead without being asked.`],
    })
  }
}

/** What it takes to ask somebody. */
export type Asker = Pick<Context, 'streams' | 'environment'>

/**
 * `Question (y/N)`: everything but `y` and `yes` is no.
 * @param allow - the flag that answers beforehand: `--yes`, `--auto-approve`
 * @throws NotConfirmedError when the answer is no, or when there is nobody to ask
 */
export async function confirm(context: Asker, question: string, allow: string): Promise<void> {
  const interactive = isInteractive(context)
  if (!interactive || !(await asksYes(context, question))) throw new NotConfirmedError(question, allow, interactive)
}

/** As `confirm`, for questions whose "no" is not an error. Without a terminal the answer is no. */
export async function asksYes(context: Asker, question: string): Promise<boolean> {
  if (!isInteractive(context)) return false
  const answer = await ask(context, `${question} (y/N) `)
  return /^y(es)?$/i.test(answer.trim())
}

/** One line of answer; empty at the end of input. */
export async function ask({streams}: Asker, question: string): Promise<string> {
  const {createInterface} = await import('node:readline')
  const lines = createInterface({input: streams.stdin, output: streams.stderr, terminal: streams.stderr.isTTY === true})
  return new Promise(resolve => {
    // Ctrl-C and the end of input end no line: what is said next has one of its own.
    let answered = false
    lines.once('close', () => {
      if (!answered) streams.stderr.write('\n')
      resolve('')
    })
    // Of a terminal that is closed: an end of input. It may come while the lines are being closed for that, and closing them again is none.
    lines.on('error', () => resolve(''))
    lines.question(question, answer => {
      answered = true
      resolve(answer)
      lines.close()
    })
  })
}

/**
 * A secret that must not stand on the command line: typed without an echo on a terminal, the whole of standard input
 * (less the newline at its end) otherwise.
 * @param name - for the prompt and for errors: `--api-secret`
 */
export async function readSecret(context: Asker, name: string): Promise<string> {
  const {stdin, stderr} = context.streams
  const secret =
    stdin.isTTY === true ? await typedSecret(stdin, stderr, `${name}: `) : (await wholeInput(stdin, name)).replace(/\r?\n$/, '')
  if (secret === '') throw new UsageError(`${name} is empty`, [`Give the value on standard input: ${asInput(name)}`])
  return secret
}

/** An argument (`KEY`) is given without its name. */
const asInput = (name: string): string => `printf %s "$SECRET" | svcctl … ${name.startsWith('--') ? `${name} -` : '-'}`

/** More than any secret has. */
const LARGEST_SECRET = 1_048_576

async function wholeInput(stdin: InputStream, name: string): Promise<string> {
  try {
    return (await readWholeStream(stdin, 'standard input', LARGEST_SECRET)).toString('utf8')
  } catch {
    throw new UsageError(`${name}: standard input has more than ${LARGEST_SECRET} bytes, or cannot be read, and is no secret`, [
      `Give the value alone on standard input: ${asInput(name)}`,
    ])
  }
}

function typedSecret(stdin: InputStream, stderr: NodeJS.WritableStream, prompt: string): Promise<string> {
  stderr.write(prompt)
  return new Promise((resolve, reject) => {
    let typed = ''
    const refuse = () => finish(() => reject(new NotConfirmedError(prompt, `${prompt.replace(/: $/, '')} -`, true)))
    const finish = (answer: () => void) => {
      stdin.off('data', take)
      stdin.off('end', refuse)
      stdin.off('error', refuse)
      // A terminal that is gone cannot be given its echo back either.
      stdin.on('error', () => {})
      stdin.setRawMode?.(false)
      stdin.pause()
      stderr.write('\n')
      answer()
    }
    const take = (data: Buffer | string) => {
      for (const key of String(data)) {
        if (key === '\r' || key === '\n' || key === '\u0004') return finish(() => resolve(typed))
        if (key === '\u0003') return refuse()
        if (key === '\u007f' || key === '\b') typed = [...typed].slice(0, -1).join('')
        else if (key >= ' ') typed += key
      }
    }
    stdin.on('data', take)
    stdin.on('end', refuse)
    stdin.on('error', refuse)
    stdin.setRawMode?.(true)
    stdin.resume()
  })
}
