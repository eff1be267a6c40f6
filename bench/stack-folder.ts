/** A folder of synthesized stacks like the one `large-app.mjs` writes, with as many objects as nobody waits for cdktf to write. */
import {cpSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import type {Shape} from './growth.ts'

const STACK = join('stacks', 'large', 'cdk.tf.json')

interface StackFile {
  readonly resource: {readonly null_resource: Readonly<Record<string, object>>}
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
