/** Suggested commands carry the options of place that the command line gave. */
import {describe, expect, it} from 'vitest'
import {commandTable} from '../../../src/bin/command-list.ts'
import {CommandsHere, PLACE_OPTIONS} from '../../../src/cli/shell/commands-here.ts'
import {describeAll} from '../../../src/cli/shell/manifest.ts'

const OPTIONS = ['synth-dir', 'synth-env', 'var-file', 'state', 'profile', 'api-url', 'url', 'ca-file', 'insecure']

const here = new CommandsHere()
here.learn({
  'synth-dir': 'my out',
  state: 'x.tfstate',
  'var-file': ['a', 'b'],
  insecure: true,
  profile: undefined,
  'api-key': 'k',
  var: ['x=1'],
})
const all = "--synth-dir 'my out' --var-file a --var-file b --state x.tfstate"

describe('a command that svcctl suggests', () => {
  it('has the options of place that were given, where it takes them', () => {
    expect(here.text('Run svcctl plan in a minute: it looks again.')).toBe(`Run svcctl plan ${all} --insecure in a minute: it looks again.`)
    expect(here.text('gone: svcctl force-unlock --stack a ID')).toBe(`gone: svcctl force-unlock ${all} --stack a ID`)
    expect(here.text('use "svcctl state mv" and "svcctl state rm".')).toBe(`use "svcctl state mv ${all}" and "svcctl state rm ${all}".`)
    expect(here.text('Then: svcctl undo R --out u')).toBe('Then: svcctl undo --state x.tfstate --insecure R --out u')
  })

  it('reads no stacks for a saved plan or a run, which know theirs', () => {
    expect(here.text('svcctl apply r.plan --approve abc')).toBe('svcctl apply --var-file a --var-file b --insecure r.plan --approve abc')
    expect(here.text('svcctl apply /a/r.residual.json')).toBe('svcctl apply --var-file a --var-file b --insecure /a/r.residual.json')
    expect(here.text('svcctl apply --resume')).toBe('svcctl apply --var-file a --var-file b --state x.tfstate --insecure --resume')
  })

  it('stays as it is where it takes none, names them itself, or only says who holds a lock', () => {
    for (const text of [
      'svcctl runs list',
      'svcctl plan diff OLD NEW',
      'locked by me@here (svcctl apply) since',
      'svcctl applying',
      'my-svcctl plan',
    ])
      expect(here.text(text)).toBe(text)
    expect(here.text('svcctl state list --state y')).toBe("svcctl state list --synth-dir 'my out' --var-file a --var-file b --state y")
    expect(new CommandsHere().text('svcctl plan')).toBe('svcctl plan')
  })

  it('has no address that may hold a password', () => {
    const with_ = new CommandsHere()
    with_.learn({url: 'https://me:geheim@host', 'api-url': 'https://host/v1'})
    expect(with_.text('svcctl plan')).toBe('svcctl plan --api-url https://host/v1')
  })

  it('knows what each command takes', async () => {
    const taken = (await describeAll(commandTable))
      .map(({id, flags}) => [id, OPTIONS.filter(name => flags.some(it => it.name === name))] as const)
      .filter(([, names]) => names.includes('var-file') || names.includes('state'))
    expect(Object.fromEntries(Object.entries(PLACE_OPTIONS).sort())).toEqual(Object.fromEntries(taken))
  })
})
