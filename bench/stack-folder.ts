/** A folder of synthesized stacks like the one `large-app.mjs` writes, with as many objects as nobody waits for cdktf to write. */
import {cpSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import type {SimulatorConfigInput} from '../src/simulator/index.ts'
import type {Shape} from './growth.ts'

const STACK = join('stacks', 'large', 'cdk.tf.json')

interface StackFile {
  readonly resource: {readonly null_resource: Readonly<Record<string, {readonly triggers: {readonly kind: string; readonly spec: string}}>>}
}

/**
 * @param like - a folder that `large-app.mjs` wrote; its `d1` is what all the others are like
 * @param to - may be the same folder
 */
export function writeStackFolder({like, to, objects, shape}: {like: string; to: string; objects: number; shape: Shape}): void {
  const file = JSON.parse(readFileSync(join(like, STACK), 'utf8')) as StackFile
  const {subscription, d1} = file.resource.null_resource
  const text = JSON.stringify(d1)
  const databases = Array.from({length: objects - 1}, (_, at): [string, object] => {
    const name = `d${at + 1}`
    const database = JSON.parse(text.replaceAll(/\bd1\b/g, name)) as object
    return [name, shape === 'chain' && at > 0 ? {...database, depends_on: [`null_resource.d${at}`]} : database]
  })
  mkdirSync(join(to, dirname(STACK)), {recursive: true})
  const resources = {null_resource: {subscription, ...Object.fromEntries(databases)}}
  writeFileSync(join(to, STACK), JSON.stringify({...file, resource: resources}, undefined, 2))
  if (to !== like) cpSync(join(like, 'manifest.json'), join(to, 'manifest.json'))
}

type Fields = NonNullable<NonNullable<SimulatorConfigInput['start']>[number]['create']>

/** A service in which all that such a folder declares is there already, as it is declared. */
export function worldOf(folder: string): SimulatorConfigInput {
  const {resource} = JSON.parse(readFileSync(join(folder, STACK), 'utf8')) as StackFile
  const start = Object.values(resource.null_resource).map(({triggers: {kind, spec}}) => ({
    path: kind === 'cloud.subscription' ? 'cloud/subscriptions' : 'cloud/subscriptions/1/databases',
    create: JSON.parse(spec) as Fields,
    isFirst: kind === 'cloud.subscription',
  }))
  // What others live in is made before them.
  return {start: start.sort((a, b) => Number(b.isFirst) - Number(a.isFirst)).map(({path, create}) => ({path, create}))}
}
