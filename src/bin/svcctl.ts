/** The process: arguments in, exit code out. `--version` is answered before anything else is loaded. */
import type * as Program from './program.ts'

declare const SVCCTL_VERSION: string | undefined

const version = typeof SVCCTL_VERSION === 'string' ? SVCCTL_VERSION : '0.0.0-source'
const argv = process.argv.slice(2)

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-version')) printVersion()
else void program().then(({run}) => run(argv, version))

function printVersion(): void {
  process.stdout.on('error', ({message}) => {
    process.exitCode = 1
    process.stderr.write(`error: ${message}\n`)
  })
  process.stdout.write(`${version}\n`)
}

async function program(): Promise<typeof Program> {
  // From the sources there is nothing to load by name.
  if (typeof SVCCTL_VERSION !== 'string') return import('./program.ts')
  const [{programFiles}, {codeCacheFolder}] = await Promise.all([import('./program-files.ts'), import('../config/code-cache-folder.ts')])
  const {load, keep} = programFiles(import.meta.dirname, codeCacheFolder())
  process.on('exit', () => void keep())
  return load('program.js') as typeof Program
}
