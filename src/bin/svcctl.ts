/** The process: arguments in, exit code out. `--version` is answered before anything else is loaded. */
declare const SVCCTL_VERSION: string | undefined

const version = typeof SVCCTL_VERSION === 'string' ? SVCCTL_VERSION : '0.0.0-source'
const argv = process.argv.slice(2)

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-version')) printVersion()
else void run()

function printVersion(): void {
  process.stdout.on('error', ({message}) => {
    process.exitCode = 1
    process.stderr.write(`error: ${message}\n`)
  })
  process.stdout.write(`${version}\n`)
}

async function run(): Promise<never> {
  const [{flushed, main}, {processStreams}, {table}, {makeThreadsFor}] = await Promise.all([
    import('../cli/main.ts'),
    import('../cli/show/process-streams.ts'),
    import('../commands/table.ts'),
    import('../config/thread-pool.ts'),
  ])
  makeThreadsFor()
  const output = processStreams()
  const code = await main({argv, table, version, overrides: {streams: output.streams}, site: process})
  await Promise.all([flushed(process.stdout), flushed(process.stderr)])
  // Sockets kept open for the next request must not keep the process.
  process.exit(output.settle(code))
}
