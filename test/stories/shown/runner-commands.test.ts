/** What is printed ends in the log of a CI job, whose runner obeys some lines: words from outside are not to be among them. */
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {parse} from 'yaml'
import {OUTPUT_FORMATS} from '../../../src/report/output-format.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'
import {type WatchedSite, watchedSite} from '../../support/watched-site.ts'

let svc: WatchedSite
beforeEach(async () => {
  svc = await watchedSite()
})
afterEach(() => svc.close())

/** As GitHub's runner, that of Azure and TeamCity's read a line. */
const isCommand = (line: string): boolean => /##[a-z]*\[/i.test(line) || /^\s*::[a-z-]+(?: .*)?::/i.test(line)
const commandsIn = (text: string): string[] => text.split(/[\r\n]/).filter(isCommand)

const WORDS = [
  '::set-output name=hash::evil',
  '  ::stop-commands::x',
  'a\n::add-mask::b',
  'a\r::add-path::/evil\nb',
  '##[set-env name=PATH]/evil',
  'a ##vso[task.prependpath]/evil',
  '###teamcity[a]',
  'a\n##vso[task.setvariable variable=PATH]/evil',
]
/** Next to them, and no command of anybody's. */
const OTHERS = ['::1', '::ffff:10.0.0.1', '## [a]', 'a ::b::', '#[x]', '##']

describe('words of a server that a CI runner would obey', () => {
  it.each(OUTPUT_FORMATS)('are letters in -o %s, and what is no command stays', async format => {
    const rows = [...WORDS, ...OTHERS].map(name => ({name, [name]: 1}))
    let answer: unknown = rows
    const url = await svc.serve((_, response) => void response.end(JSON.stringify(answer)))
    const ask = async (...more: readonly string[]) => {
      const {code, stdout, stderr} = await svc.run(['api', 'cloud', 'get', '/x', '-o', format, ...more], {env: {SVC_CLOUD_API_URL: url}})
      expect({code, stderr, commands: commandsIn(stdout)}).toEqual({code: 0, stderr: '', commands: []})
      return stdout
    }
    for (const text of [await ask(), await ask('-q', '@')]) {
      if (format === 'json') expect(JSON.parse(text)).toEqual(rows)
      if (format === 'yaml') expect(parse(text)).toEqual(rows)
      for (const other of OTHERS) expect(text).toContain(other)
    }
    for (const word of WORDS) {
      answer = word
      await ask()
    }
    // A large answer is shown in parts.
    answer = Array.from({length: 5000}, () => ({a: 'x'.repeat(99), name: WORDS[5]}))
    await ask()
  })

  it('are letters in errors and logs', async () => {
    const message = WORDS.join('\n')
    const url = await svc.serve((_, response) => void response.writeHead(400).end(`${message}\n${JSON.stringify({error: {message}})}`))
    for (const more of [[], ['-vv'], ['-o', 'json'], ['-o', 'yaml']]) {
      const {stdout, stderr} = await svc.run(['api', 'cloud', 'get', '/x', ...more], {env: {SVC_CLOUD_API_URL: url}})
      expect(stderr).toContain('evil')
      expect(commandsIn(stdout + stderr)).toEqual([])
    }
  })

  it('are letters where a stack says them', async () => {
    const stack = jsonStack('shop')
    WORDS.forEach((name, at) => {
      stack.subscription(`s${at}`, {name})
    })
    saveStack(svc.folder, stack.block('output', {o: {value: WORDS.join('\n')}}))
    for (const command of ['plan', 'graph', 'apply --auto-approve', 'output', 'destroy --allow-destroy *'])
      for (const format of ['text', 'yaml']) {
        const {stdout, stderr} = await svc.run([...command.split(' '), '--synth-dir', 'shop', '-o', format])
        expect(stdout).not.toBe('')
        expect({command, format, commands: commandsIn(stdout + stderr)}).toEqual({command, format, commands: []})
      }
  })

  it.each(['markdown', 'html', 'junit', 'gitlab'])('are letters in a report on standard output: %s', async format => {
    const stack = jsonStack('shop')
    WORDS.forEach((name, at) => {
      stack.subscription(`s${at}`, {name}, {forEach: {[name]: 1}})
    })
    saveStack(svc.folder, stack)
    for (const command of ['plan', 'apply --auto-approve', 'drift']) {
      const {stdout} = await svc.run([...command.split(' '), '--synth-dir', 'shop', '--report', format])
      expect(stdout).not.toBe('')
      expect({command, commands: commandsIn(stdout)}).toEqual({command, commands: []})
    }
  })

  it.each(['dot', 'mermaid', 'svg'])('are letters in a graph as %s', async format => {
    const stack = jsonStack('shop')
    WORDS.forEach((name, at) => {
      stack.subscription(`s${at}`, {name}, {forEach: {[name]: 1}})
    })
    saveStack(svc.folder, stack)
    const {stdout} = await svc.run(['graph', '--synth-dir', 'shop', '--format', format])
    expect(stdout).toContain('evil')
    expect(commandsIn(stdout)).toEqual([])
  })

  it('hide no secret that looks like them', async () => {
    const secret = svc.secret('pass##[word]::x')
    const url = await svc.serve((_, response) => void response.writeHead(400).end(`it was\n${secret}`))
    for (const more of [[], ['-vv'], ['-o', 'json']]) {
      const {stderr} = await svc.run(['api', 'cloud', 'get', '/x', ...more], {env: {SVC_CLOUD_API_URL: url, SVC_CLOUD_SECRET_KEY: secret}})
      expect(stderr).not.toContain('word]')
    }
  })
})
