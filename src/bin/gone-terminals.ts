/**
 * Node gives each terminal that it began with its settings back when it ends, and aborts where that fails (SIGABRT, and a
 * dump of its memory where the system keeps one). A terminal that is gone by then is closed before.
 */
import {closeSync, fstatSync, statSync} from 'node:fs'
import {devNull} from 'node:os'

export function closeGoneTerminals(): void {
  const devices = [0, 1, 2].filter(isDevice)
  // Asked for only there: `node:tty` brings sockets with it, and everybody starts.
  const terminals = devices.length === 0 ? [] : devices.filter(isTerminal)
  if (terminals.length === 0) return
  process.on('exit', () => {
    for (const fd of terminals) if (!isTerminal(fd)) close(fd)
  })
}

const isTerminal = (fd: number): boolean => process.getBuiltinModule('node:tty').isatty(fd)

/** Every terminal is one; /dev/null, which is one too, is what a program gives that wants to hear nothing. */
function isDevice(fd: number): boolean {
  try {
    const found = fstatSync(fd)
    return found.isCharacterDevice() && found.rdev !== statSync(devNull, {throwIfNoEntry: false})?.rdev
  } catch {
    return false
  }
}

function close(fd: number): void {
  try {
    closeSync(fd)
  } catch {
    // Closed already.
  }
}
