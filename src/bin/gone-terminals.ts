/**
 * Node gives each terminal that it began with its settings back when it ends, and aborts where that fails (SIGABRT, and a
 * dump of its memory where the system keeps one). A terminal that is gone by then is closed before.
 */
import {closeSync} from 'node:fs'
import {isatty} from 'node:tty'

export function closeGoneTerminals(): void {
  const terminals = [0, 1, 2].filter(fd => isatty(fd))
  process.on('exit', () => {
    for (const fd of terminals) if (!isatty(fd)) close(fd)
  })
}

function close(fd: number): void {
  try {
    closeSync(fd)
  } catch {
    // Closed already.
  }
}
