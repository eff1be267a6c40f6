/** A run over two stacks that did not end, and two applies that settle it at the same time, each for its own stack. */
import {readdirSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {readStory} from '../../../src/run/journal/run-files.ts'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {JsonStack, saveStacks} from '../../support/stack-json.ts'

let here: Inside
beforeEach(async () => {
  here = await inside()
})
afterEach(() => here.close())

it('is over when both are done: neither takes away what the other has noted', async () => {
  const names = ['shop', 'till']
  const app = saveStacks(
    here.folder,
    names.map(name => new JsonStack(name).subscription('main', {name})),
  )
  const apply = (...words: string[]) => here.fast(['apply', '--synth-dir', app, '--auto-approve', '-o', 'json', ...words])
  here.simulator.config.cloud.taskMs = 1_000
  const late = await apply('--stack', '*', '--timeout', '100ms')
  expect(late.code, late.stderr).toBe(12)
  const {run} = documentOf(late)
  const done = await Promise.all(names.map(name => apply('--stack', name)))
  expect(done.map(it => [it.code, documentOf(it).converged])).toEqual([
    [0, true],
    [0, true],
  ])
  const runs = join(here.folder, '.svcctl', 'runs')
  const file = readdirSync(runs).find(it => it === `${run}.jsonl`) ?? ''
  const {settled, loose, entries} = readStory(join(runs, file))
  expect([loose, settled.map(it => [it.key, it.recorded]).sort()]).toEqual([
    [],
    [
      ['shop:null_resource.main', true],
      ['till:null_resource.main', true],
    ],
  ])
  expect(entries.filter(it => it.type === 'end').map(it => 'recovered' in it.summary)).toContain(true)
  expect(here.writes).toHaveLength(2)
})
