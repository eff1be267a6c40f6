/**
 * Folders that a call needs while it runs, for nobody's eyes but its user's: stacks have secrets in clear. A call that was
 * killed leaves its own behind, and the next one that makes such a folder takes it away.
 */
import {lstatSync, mkdtempSync, opendirSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {systemClock} from './clock.ts'

/** What it is for, in its name. */
export type TemporaryUse = 'synth' | 'export' | 'archive'

const OURS = /^svcctl-(?:synth|export|archive)-[A-Za-z0-9]{6}$/
/** No call takes as long as this, whatever it waits for. */
const OLD_MS = 48 * 3_600_000
/** Names in a folder for everybody that are looked at; there is no end to what others leave there. */
const MOST_NAMES = 20_000

/** @param now - milliseconds since the epoch, by the clock that file systems have */
export function temporaryFolder(use: TemporaryUse, now = systemClock.now(), within = tmpdir()): string {
  removeOld(within, now - OLD_MS)
  const folder = mkdtempSync(join(within, `svcctl-${use}-`))
  if (made.size === 0) process.once('exit', removeMade)
  made.add(folder)
  return folder
}

/** Who made them takes them away; what ends the process meanwhile (Ctrl-C) waits for nobody. */
const made = new Set<string>()

function removeMade(): void {
  for (const folder of made) {
    try {
      rmSync(folder, {recursive: true, force: true})
    } catch {
      // A program that has not ended yet writes into it: the next call that makes such a folder takes it away.
    }
  }
}

/** Only folders of this user, and links stay what they are: neither they nor what is behind those in a folder is touched. */
function removeOld(within: string, before: number): void {
  try {
    for (const name of namesIn(within)) {
      const path = join(within, name)
      const found = lstatSync(path)
      const isOwn = found.uid === (process.geteuid?.() ?? found.uid)
      if (found.isDirectory() && isOwn && found.mtimeMs < before) rmSync(path, {recursive: true, force: true})
    }
  } catch {
    // Somebody else takes them away at the same time, or may: there is a next time.
  }
}

function namesIn(within: string): readonly string[] {
  const names: string[] = []
  const folder = opendirSync(within)
  try {
    for (let looked = 0; looked < MOST_NAMES; looked++) {
      const entry = folder.readSync()
      if (entry === null) break
      if (OURS.test(entry.name)) names.push(entry.name)
    }
  } finally {
    folder.closeSync()
  }
  return names
}
