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
    expect(here.text('gone: svcctl force-unlock --stack a ID')).toBe(`gone: svcctl force-unlock --stack a ID ${all}`)
    expect(here.text('use "svcctl state mv" and "svcctl state rm".')).toBe(`use "svcctl state mv ${all}" and "svcctl state rm ${all}".`)
    expect(here.text('Then: svcctl undo R --out u')).toBe('Then: svcctl undo R --out u --state x.tfstate --insecure')
  })

  it('begins as it was said: what is added stands behind its arguments', () => {
    const short = new CommandsHere()
    short.learn({state: 'S'})
    for (const [said, shown] of [
      ['svcctl apply again, which goes on', 'svcctl apply --state S again, which goes on'],
      ['svcctl apply --resume: it waits', 'svcctl apply --resume --state S: it waits'],
      ['svcctl apply --resume 20261101T1-a. Then', 'svcctl apply --resume 20261101T1-a --state S. Then'],
      ['svcctl absorb --dry-run shows the places, and', 'svcctl absorb --dry-run --state S shows the places, and'],
      ["svcctl destroy --stack 'a b', or", "svcctl destroy --stack 'a b' --state S, or"],
      ["svcctl plan --target 'it'\\''s', or", "svcctl plan --target 'it'\\''s' --state S, or"],
      ['svcctl plan --out FILE (and so on)', 'svcctl plan --out FILE --state S (and so on)'],
      ['svcctl transfer cache --from b --to c', 'svcctl transfer cache --from b --to c --state S'],
      ['svcctl force-unlock --stack web abc', 'svcctl force-unlock --stack web abc --state S'],
      ['svcctl hold lift s:null_resource.a s:null_resource.b.', 'svcctl hold lift s:null_resource.a s:null_resource.b --state S.'],
      ['svcctl state rm null_resource.a --stack s takes it out', 'svcctl state rm null_resource.a --stack s --state S takes it out'],
    ] as const)
      expect(short.text(said)).toBe(shown)
  })

  it('reads no stacks for a saved plan or a run, which know theirs', () => {
    expect(here.text('svcctl apply r.plan --approve abc')).toBe('svcctl apply r.plan --approve abc --var-file a --var-file b --insecure')
    expect(here.text('svcctl apply /a/r.residual.json')).toBe('svcctl apply /a/r.residual.json --var-file a --var-file b --insecure')
    expect(here.text('svcctl apply --resume')).toBe('svcctl apply --resume --var-file a --var-file b --state x.tfstate --insecure')
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
    expect(here.text('svcctl state list --state y')).toBe("svcctl state list --state y --synth-dir 'my out' --var-file a --var-file b")
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
