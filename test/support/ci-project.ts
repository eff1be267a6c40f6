/**
 * A repository as a code host has it: an app of one stack, svcctl among its packages, and the pipelines that docs/ci.md
 * shows. Runners check it out onto disks of their own.
 */
import {execFileSync} from 'node:child_process'
import {cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {blocksIn} from './page.ts'
import {type JsonStack, saveStack} from './stack-json.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What one runner has: a clone, and a home that nobody else sees. */
export interface Disk {
  readonly folder: string
  readonly home: string
  wipe(): void
}

export interface CiProject {
  /** Where the code host keeps the repository. */
  readonly remote: string
  /** Where the code host keeps what jobs hand on. */
  readonly artifacts: string
  /** @returns the commit */
  push(stack: JsonStack): string
  checkout(commit: string): Disk
  remove(): void
}

/** Makes a folder an app whose one stack lies there already. */
export function saveApp(folder: string, stack: JsonStack): void {
  const {name} = stack
  saveStack(folder, stack)
  const app = `mkdir -p "$CDKTF_OUTDIR/stacks/${name}" && cp ${name}/cdk.tf.json "$CDKTF_OUTDIR/stacks/${name}/" && cp app-manifest.json "$CDKTF_OUTDIR/manifest.json"`
  writeFileSync(join(folder, 'cdktf.json'), JSON.stringify({language: 'typescript', app}))
  const shown = {
    name,
    synthesizedStackPath: `stacks/${name}/cdk.tf.json`,
    workingDirectory: `stacks/${name}`,
    constructPath: name,
    annotations: [],
    dependencies: [],
  }
  writeFileSync(join(folder, 'app-manifest.json'), JSON.stringify({version: '0.21.0', stacks: {[name]: shown}}))
}

/** The pipelines of the guide as they stand there, by the files they belong into. */
function pipelines(): Readonly<Record<string, string>> {
  const guide = blocksIn(readFileSync(join(root, 'docs', 'ci.md'), 'utf8')).filter(it => it.language === 'yaml')
  const workflow = guide.find(it => it.text.includes('workflow_dispatch'))?.text
  const include = guide.find(it => it.text.startsWith('include:'))?.text
  const variables = guide.find(it => it.text.startsWith('variables:'))?.text
  if (workflow === undefined || include === undefined || variables === undefined) throw new Error('docs/ci.md has no pipelines')
  return {
    '.github/workflows/infrastructure.yml': workflow,
    '.gitlab-ci.yml': include + variables,
    'ci/gitlab/svcctl.yml': readFileSync(join(root, 'ci', 'gitlab', 'svcctl.yml'), 'utf8'),
  }
}

export function ciProject(): CiProject {
  const place = mkdtempSync(join(tmpdir(), 'svcctl-project-'))
  const [remote, artifacts] = [join(place, 'shop'), join(place, 'artifacts')]
  mkdirSync(artifacts)
  const git = (folder: string, ...words: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=ana', '-c', 'user.email=ana@example.com', ...words], {
      encoding: 'utf8',
      env: {PATH: process.env.PATH ?? '', HOME: place, GIT_CONFIG_NOSYSTEM: '1'},
    }).trim()
  const write = (file: string, text: string) => {
    mkdirSync(join(remote, file, '..'), {recursive: true})
    writeFileSync(join(remote, file), text)
  }
  for (const [file, text] of Object.entries(pipelines())) write(file, text)
  // The package as npm would unpack it, but for what it would have to download.
  const vendored = {name: 'svcctl', version: '0.1.0', bin: {svcctl: 'dist/bin/svcctl.js'}}
  write('vendor/svcctl/package.json', JSON.stringify(vendored))
  cpSync(join(root, 'ci'), join(remote, 'vendor', 'svcctl', 'ci'), {recursive: true})
  symlinkSync(join(root, 'dist'), join(remote, 'vendor', 'svcctl', 'dist'))
  const dependencies = {svcctl: 'file:vendor/svcctl'}
  write('package.json', JSON.stringify({private: true, dependencies}))
  write(
    'package-lock.json',
    JSON.stringify({
      lockfileVersion: 3,
      packages: {
        '': {dependencies},
        'node_modules/svcctl': {resolved: 'vendor/svcctl', link: true},
        'vendor/svcctl': {version: vendored.version, bin: vendored.bin},
      },
    }),
  )
  write('.gitignore', 'node_modules/\n.gitlab-ci-local/\n.svcctl/\n')
  git(place, 'init', '-q', '-b', 'topic', remote)
  git(remote, 'remote', 'add', 'origin', 'https://code.example/acme/shop.git')
  return {
    remote,
    artifacts,
    push: stack => {
      saveApp(remote, stack)
      git(remote, 'add', '-A')
      git(remote, 'commit', '-q', '-m', 'a change')
      return git(remote, 'rev-parse', 'HEAD')
    },
    checkout: commit => {
      const disk = mkdtempSync(join(place, 'disk-'))
      const [folder, home] = [join(disk, 'work'), join(disk, 'home')]
      mkdirSync(home, {mode: 0o700})
      git(place, 'clone', '-q', remote, folder)
      git(folder, 'checkout', '-q', '-B', 'topic', commit)
      git(folder, 'remote', 'set-url', 'origin', 'https://code.example/acme/shop.git')
      return {folder, home, wipe: () => rmSync(disk, {recursive: true, force: true})}
    },
    remove: () => rmSync(place, {recursive: true, force: true}),
  }
}
