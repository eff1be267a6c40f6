/** A program of the tests as one file: with tsx every process of it would load a compiler, and hundreds of modules one by one. */
import {mkdirSync, renameSync, writeFileSync} from 'node:fs'
import {basename, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {build} from 'esbuild'

const folder = fileURLToPath(new URL('../../node_modules/.svcctl-test-programs', import.meta.url))
const made = new Map<string, Promise<string>>()

/** @returns what Node is to be started with */
export function childProgram(source: string): Promise<string> {
  const program = made.get(source) ?? bundled(source)
  made.set(source, program)
  return program
}

async function bundled(source: string): Promise<string> {
  const {outputFiles} = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // What is CommonJS asks for others in its way.
    banner: {js: `import {createRequire} from 'node:module'; const require = createRequire(import.meta.url);`},
  })
  const file = join(folder, basename(source).replace(/\.ts$/, '.mjs'))
  mkdirSync(folder, {recursive: true})
  // Other workers write the same, and nobody ever reads half of it.
  const aside = `${file}.${process.pid}`
  writeFileSync(aside, outputFiles[0]?.contents ?? '')
  renameSync(aside, file)
  return file
}
