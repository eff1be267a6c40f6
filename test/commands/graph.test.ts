import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {graphSchema} from '../../src/run/plan/graph-document.ts'
import {documentOf, type Site, site} from '../support/site.ts'
import {jsonStack, saveStack} from '../support/stack-json.ts'

let at: Site
beforeAll(async () => {
  at = await site()
})
afterAll(() => at.close())

const dir = () =>
  saveStack(at.folder, jsonStack('shop').subscription('sub', {name: 'drawn'}).database('a', 'sub').user('u', 'a', {role: 'r'}))

describe('svcctl graph', () => {
  it('draws a saved plan without a request, in each of its languages, and is a document of its schema', async () => {
    expect((await at.fast(['plan', '--synth-dir', dir(), '--out', 'shop.plan'])).code).toBe(0)
    at.simulator.clearLog()
    const [dot, mermaid, svg, json] = await Promise.all([
      at.run(['graph', 'shop.plan']),
      at.run(['graph', 'shop.plan', '--format', 'mermaid']),
      at.run(['graph', 'shop.plan', '--format', 'svg']),
      at.run(['graph', 'shop.plan', '-o', 'json']),
    ])
    expect(at.simulator.log).toEqual([])
    expect([dot.code, dot.stdout.split('\n')[0], dot.stdout]).toEqual([0, 'digraph svcctl {', expect.stringContaining('[label="parent"];')])
    expect(mermaid.stdout).toContain('\nflowchart LR\n')
    expect(mermaid.stdout).toContain('-->|"parent"|')
    expect([svg.stdout.slice(0, 5), svg.stdout.trimEnd().slice(-6)]).toEqual(['<svg ', '</svg>'])
    const document = documentOf(json)
    expect(graphSchema.safeParse(document).error).toBeUndefined()
    expect([document.requests, document.text]).toEqual([{used: 0}, dot.stdout])
    expect(document.edges).toEqual([
      {from: 'shop:null_resource.sub', to: 'shop:null_resource.a', reason: 'parent'},
      {from: 'shop:null_resource.a', to: 'shop:null_resource.u', reason: 'parent'},
    ])
  })

  it('without a plan makes one, and shows what stands on what when nothing is left to do', async () => {
    expect((await at.fast(['apply', '--synth-dir', dir(), '--auto-approve'])).code).toBe(0)
    at.simulator.clearLog()
    const drawn = await at.fast(['graph', '--synth-dir', dir(), '-o', 'json'])
    const document = documentOf(drawn)
    expect([at.writes, document.requests.used]).toEqual([[], at.simulator.log.length])
    expect(document.nodes.map((it: {action: string}) => it.action)).toEqual(['no-op', 'no-op', 'no-op'])
    expect(document.edges).toHaveLength(2)
    const table = await at.fast(['graph', '--synth-dir', dir(), '--target', 'null_resource.a', '-o', 'table'])
    expect(table.stdout).toMatch(/^FIRST +THEN +BECAUSE\nshop:null_resource\.sub +shop:null_resource\.a +parent\n$/)
  })

  it('refuses what contradicts a saved plan, and a language it does not speak', async () => {
    const outcomes = await Promise.all([
      at.run(['graph', 'shop.plan', '--target', 'null_resource.a', '-o', 'json']),
      at.run(['graph', 'shop.plan', '--format', 'png', '-o', 'json']),
      at.run(['graph', 'nothing.plan', '-o', 'json']),
    ])
    expect(outcomes.map(it => [it.code, documentOf(it).error.code])).toEqual([
      [64, 'E_USAGE'],
      [64, 'E_USAGE'],
      [64, 'E_PLAN_FILE'],
    ])
  })
})
