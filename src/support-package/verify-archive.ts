/** Whether an archive is whole: its gzip checksums fit, every header fits, and the end mark is there. */
import {ByteReader} from './byte-reader.ts'
import {ARCHIVE_LIMITS, type ArchiveLimits, gunzip} from './gunzip.ts'
import {tarMembers} from './tar-members.ts'

/** Nothing of what is unpacked is kept, so that size alone is no danger here. */
const UNLIMITED: ArchiveLimits = {
  ...ARCHIVE_LIMITS,
  maxExpandedBytes: Number.POSITIVE_INFINITY,
  maxRatio: Number.POSITIVE_INFINITY,
  maxMembers: Number.POSITIVE_INFINITY,
  maxNames: Number.POSITIVE_INFINITY,
}

/**
 * Reads `source` to its end, in constant memory.
 *
 * @returns how many members there are
 * @throws NotAnArchiveError, ArchiveCutShortError, ArchiveDamagedError
 */
export async function verifyArchive(source: AsyncIterable<Uint8Array>, what: string): Promise<number> {
  const reader = new ByteReader(gunzip(source, what, UNLIMITED))
  let members = 0
  try {
    for await (const _ of tarMembers(reader, what, UNLIMITED)) members += 1
    await drain(reader)
  } finally {
    await reader.close()
  }
  return members
}

/** Padding after the end mark, up to the gzip's checksum. */
export async function drain(reader: ByteReader): Promise<void> {
  while ((await reader.some(1024 * 1024)) !== undefined);
}
