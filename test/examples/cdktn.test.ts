/** A project that has cdktn, and neither cdktf nor its null provider. */
import {execFile} from 'node:child_process'
import {cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../support/site.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

const APP = `
import {App, TerraformStack} from 'cdktn'
import {Database, Subscription, secret} from 'svcctl/cdktn'

const app = new App()
const stack = new TerraformStack(app, 'shop')
const main = new Subscription(stack, 'main', {name: 'main'})
new Database(stack, 'cache', {name: 'cache', memoryLimitInGb: 1, subscription: main})
secret(stack, 'pw')
app.synth()
`

let at: Site
beforeAll(async () => {
  at = await site()
  const modules = join(at.folder, 'node_modules')
  mkdirSync(modules)
  // A copy, and no link: what svcctl asks for is looked up from where it lies.
  for (const part of ['package.json', 'dist/lib', 'dist/cdktn', 'dist/types', 'dist/types-cdktn'])
    cpSync(join(root, part), join(modules, 'svcctl', part), {recursive: true})
  for (const name of ['cdktn', 'constructs', 'zod']) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  writeFileSync(join(at.folder, 'cdktf.json'), JSON.stringify({app: `${process.execPath} app.mjs`}))
  writeFileSync(join(at.folder, 'app.mjs'), APP)
})
afterAll(() => at.close())

describe('a project with cdktn alone', () => {
  it.each(['cdktf', '@cdktf/provider-null/lib/resource/index.js'])('has no %s to find', name => {
    expect(() => createRequire(join(at.folder, 'node_modules', 'svcctl', 'package.json')).resolve(name)).toThrow('Cannot find module')
  })

  it('is planned', async () => {
    const plan = await at.fast(['plan', '-o', 'json'], {env: {TF_VAR_pw: 'x'}})
    // A busy machine may take its time to run the app, and that is said.
    expect([plan.code, plan.stderr.replace(/^Running the app: .*\n/, '')]).toEqual([0, ''])
    const {operations} = documentOf(plan) as {operations: {action: string; construct: string}[]}
    expect(operations.map(it => `${it.action} ${it.construct}`)).toEqual(['create shop/main', 'create shop/cache'])
  })

  it('gets the null provider, which svcctl brings along for it', async () => {
    const outdir = join(at.folder, 'cdktf.out')
    await run(process.execPath, ['app.mjs'], {cwd: at.folder, env: {PATH: process.env.PATH, CDKTF_OUTDIR: outdir}})
    const file = JSON.parse(readFileSync(join(outdir, 'stacks/shop/cdk.tf.json'), 'utf8'))
    expect([file.provider, file.terraform]).toMatchObject([{null: [{}]}, {required_providers: {null: {source: 'null', version: '3.2.4'}}}])
    expect(readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8')).toContain('@cdktf/provider-null 11.0.1 (MPL-2.0)')
  })

  it('is typed', async () => {
    writeFileSync(
      join(at.folder, 'app.mts'),
      `${APP}const kept: {[key: string]: string} = main.triggers
main.provisioners = [{type: 'local-exec', command: 1}]
`
        .replace('memoryLimitInGb: 1', "memoryLimitInGb: 1, protocol: 'reds'")
        .replace("{name: 'main'}", "{name: 'main', paymentMethd: 'x', ...unlisted({other: 1})}")
        .replace('secret}', 'secret, unlisted}'),
    )
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', 'app.mts']
    const typed = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options], {cwd: at.folder}).catch(
      (error: {stdout: string}) => error,
    )
    expect(typed.stdout.split('\n').flatMap(line => /error TS\d+: .*/.exec(line) ?? [])).toEqual([
      expect.stringContaining("'paymentMethd' does not exist in type"),
      expect.stringContaining('Did you mean \'"redis"\'?'),
      expect.stringContaining("Type 'number' is not assignable to type 'string'"),
    ])
  })

  it('that imports the build for cdktf is told which one to import', async () => {
    writeFileSync(join(at.folder, 'app.mjs'), APP.replace('svcctl/cdktn', 'svcctl'))
    const outcome = await at.fast(['plan', '-o', 'json'])
    expect(documentOf(outcome).error.suggestions).toContain(
      'Install cdktf and @cdktf/provider-null and import from "svcctl", or install cdktn and import from "svcctl/cdktn".',
    )
  })

  it('that has cdktf too, without its null provider, is told the same', async () => {
    symlinkSync(join(root, 'node_modules', 'cdktf'), join(at.folder, 'node_modules', 'cdktf'))
    writeFileSync(join(at.folder, 'app.mjs'), APP.replace('svcctl/cdktn', 'svcctl').replace("'cdktn'", "'cdktf'"))
    const outcome = await at.fast(['plan', '-o', 'json'])
    expect(documentOf(outcome).error.suggestions).toContainEqual(expect.stringContaining('Install cdktf and @cdktf/provider-null'))
  })

  it('is one of the two that the package may be installed with', () => {
    const {peerDependencies, peerDependenciesMeta} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const peers = ['cdktf', '@cdktf/provider-null', 'cdktn']
    expect(peerDependencies).toMatchObject(Object.fromEntries(peers.map(name => [name, expect.any(String)])))
    expect(peerDependenciesMeta).toMatchObject(Object.fromEntries(peers.map(name => [name, {optional: true}])))
  })
})
