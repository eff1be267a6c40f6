/** A page of the documentation as somebody who types its commands: every line of every `sh` block, one after the other. */
import {spawn} from 'node:child_process'
import {once} from 'node:events'

export interface Block {
  readonly language: string
  readonly text: string
  /** The file it shows: named alone on a line above it. */
  readonly file: string | undefined
}

export interface Command {
  readonly text: string
  readonly exit: number
}

export interface Ended {
  readonly text: string
  readonly code: number | null
  readonly output: string
}

export const blocksIn = (page: string): readonly Block[] =>
  [...page.matchAll(/(?:^`([\w./-]+)`\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm)].map(it => ({
    file: it[1],
    language: it[2] ?? '',
    text: it[3] ?? '',
  }))

/** `# exit N` behind a command is what it must end with; otherwise 0. */
export const commandsIn = (blocks: readonly Block[], language: string): Command[] =>
  blocks
    .filter(it => it.language === language)
    .flatMap(it => it.text.split('\n'))
    .filter(line => line !== '')
    .map(line => {
      const [, text = '', comment = ''] = /^(.*?)(?: # (.*))?$/.exec(line) ?? []
      return {text, exit: Number(/^exit (\d+)/.exec(comment)?.[1] ?? 0)}
    })

/** One line in a shell. */
export async function runLine(text: string, cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<Ended> {
  const child = spawn('sh', ['-c', text], {cwd, env, stdio: ['ignore', 'pipe', 'pipe']})
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', part => {
      output += part
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return {text, code, output}
}
