import {execFileSync, spawnSync} from 'node:child_process'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, describe, expect, it} from 'vitest'
import {AclUser, CloudTarget, Database, Subscription, secret} from '../../../src/index.ts'
import {type StackFile, synthesized} from './synthesized.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, {recursive: true})
})

const missing = spawnSync('terraform', ['version'], {env: environment()}).status === 0 ? undefined : 'terraform is not installed'
if (missing) console.warn(`SKIPPED: plain Terraform is not tried, because ${missing}`)

/** Without a CLI configuration of the machine, which may name mirrors that are not there. */
function environment(): NodeJS.ProcessEnv {
  return {PATH: process.env.PATH, HOME: tmpdir(), CHECKPOINT_DISABLE: '1', TF_IN_AUTOMATION: '1', TF_INPUT: '0'}
}

function folderWith(file: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'terraform-'))
  folders.push(folder)
  writeFileSync(join(folder, 'cdk.tf.json'), JSON.stringify(file))
  return folder
}

function terraform(folder: string, ...args: string[]): {status: number | null; text: string} {
  const {status, stdout, stderr} = spawnSync('terraform', [...args, '-no-color'], {cwd: folder, env: environment(), encoding: 'utf8'})
  return {status, text: `${stdout}${stderr}`}
}

describe.skipIf(missing)('plain Terraform with a stack of ours', () => {
  const targets = (): StackFile => synthesized(stack => new CloudTarget(stack, 'cloud', {profile: 'prod'}))

  it('validates it', () => {
    const folder = folderWith(targets())
    terraform(folder, 'init')
    expect(terraform(folder, 'validate')).toEqual({status: 0, text: expect.stringContaining('The configuration is valid')})
  })

  it.each([{command: ['plan']}, {command: ['plan', '-refresh-only']}, {command: ['apply', '-auto-approve']}])(
    'stops $command and says what to run',
    ({command}) => {
      const folder = folderWith({...targets(), resource: {terraform_data: {something: {}}}})
      terraform(folder, 'init')
      const {status, text} = terraform(folder, ...command)
      expect(status).toBe(1)
      expect(text).toContain('this stack is applied with svcctl')
      expect(text).toContain('svcctl plan')
    },
  )

  it('destroys nothing that stands in its state', () => {
    const folder = folderWith({resource: {terraform_data: {something: {}}}})
    terraform(folder, 'init')
    expect(terraform(folder, 'apply', '-auto-approve').status).toBe(0)
    const file = targets()
    // The backend of the stack is another file, as its ledger is: here the state is already in it.
    writeFileSync(join(folder, 'cdk.tf.json'), JSON.stringify({...file, terraform: undefined, resource: {terraform_data: {something: {}}}}))
    expect(terraform(folder, 'destroy', '-auto-approve').text).toContain('this stack is applied with svcctl')
    expect(execFileSync('terraform', ['state', 'list'], {cwd: folder, env: environment(), encoding: 'utf8'})).toBe(
      'terraform_data.something\n',
    )
  })
})

describe.skipIf(missing)('terraform validate with objects in the stack', () => {
  it('accepts every kind of reference', context => {
    const folder = folderWith(
      synthesized(stack => {
        const subscription = new Subscription(stack, 's', {name: 'a ${b} $${c} %{d}', exclusive: ['databases']})
        const database = new Database(stack, 'd', {subscription, name: `d-${subscription.name}`, memoryLimitInGb: 1})
        new AclUser(stack, 'u', {database, name: 'u', password: secret(stack, 'pw'), role: `$${database.name}`})
      }),
    )
    const init = terraform(folder, 'init')
    if (init.status !== 0) {
      console.warn('SKIPPED: terraform validate with objects, because the null provider cannot be had here')
      return context.skip('the null provider cannot be had here')
    }
    expect(terraform(folder, 'validate')).toEqual({status: 0, text: expect.stringContaining('The configuration is valid')})
  })
})
