/** What holds for every command there is, and for every one to come. */
import {describe, expect, it} from 'vitest'
import {commandTable} from '../../src/bin/command-list.ts'
import {resolveCommand, resolveTopic} from '../../src/cli/shell/command-table.ts'
import {describeAll} from '../../src/cli/shell/manifest.ts'

const loaded = await Promise.all(Object.entries(commandTable.commands).map(async ([id, load]) => [id, (await load()).default] as const))
const infos = await describeAll(commandTable)

describe.each(loaded)('%s', (id, command) => {
  it('has a summary that is a lowercase fragment', () => {
    expect(command.summary).toMatch(/^[a-z`"-].*[^.]$/)
  })

  it('has at least two examples, which call it', () => {
    const {examples = []} = infos.find(info => info.id === id) ?? {}
    expect(examples.length).toBeGreaterThanOrEqual(2)
    for (const example of examples) expect(example).toContain(`svcctl ${id}`)
  })

  it('never takes an argument from standard input behind the back of whoever called it', () => {
    for (const arg of Object.values(command.args)) expect(arg).toMatchObject({ignoreStdin: true})
  })

  it('reads no variable by itself, and swallows no argument after a repeatable option', () => {
    for (const flag of Object.values({...command.baseFlags, ...command.flags})) {
      expect(flag).not.toHaveProperty('env')
      if ('multiple' in flag && flag.multiple) expect(flag).toMatchObject({multipleNonGreedy: true})
    }
  })

  it('shows the arguments that its examples have, and says once what may be repeated', () => {
    const {args = [], examples = [], flags = []} = infos.find(it => it.id === id) ?? {}
    const words = examples.map(it => it.slice(`svcctl ${id}`.length).trim()).filter(it => it !== '' && !it.startsWith('-'))
    if (words.length > 0) expect([id, args.length > 0]).toEqual([id, true])
    for (const {summary} of flags) expect(summary).not.toContain('repeatable')
  })

  it('describes every option and argument', () => {
    const info = infos.find(it => it.id === id)
    for (const {name, summary} of [...(info?.flags ?? []), ...(info?.args ?? [])]) expect([name, summary]).not.toEqual([name, ''])
  })
})

describe('topics', () => {
  it('are described, all of them', () => {
    for (const id of Object.keys(commandTable.commands)) {
      const words = id.split(' ')
      for (let count = 1; count < words.length; count++) expect(Object.keys(commandTable.topics)).toContain(words.slice(0, count).join(' '))
    }
  })
})

describe('the word "enterprise"', () => {
  const load = commandTable.commands.version ?? (() => Promise.reject(new Error('no such command')))
  const own = {
    commands: {'enterprise endpoint stats': load, 'enterprise node list': load, api: load},
    topics: {enterprise: 'the cluster', 'enterprise endpoint': 'endpoints', 'enterprise node': 'nodes'},
  }

  it('may be left out before its topics and commands', () => {
    for (const line of ['enterprise endpoint stats -o json', 'endpoint stats -o json']) {
      expect(resolveCommand(own, line.split(' '))).toMatchObject({id: 'enterprise endpoint stats', rest: ['-o', 'json']})
    }
    expect(resolveTopic(own, ['node'])).toBe('enterprise node')
    expect(resolveCommand(own, ['node'])).toBeUndefined()
  })

  it('is no command name in an argument', () => {
    expect(resolveCommand(own, ['api', 'enterprise', 'get', '/v1/bdbs'])).toMatchObject({
      id: 'api',
      rest: ['enterprise', 'get', '/v1/bdbs'],
    })
  })

  it('left out, typing errors are still recognised', () => {
    expect(() => resolveCommand(own, ['endpiont', 'stats'])).toThrow(
      expect.objectContaining({suggestions: expect.arrayContaining(['Did you mean: svcctl endpoint'])}),
    )
    expect(() => resolveCommand(own, ['node', 'lsit'])).toThrow(
      expect.objectContaining({suggestions: expect.arrayContaining(['Did you mean: svcctl node list'])}),
    )
  })
})
