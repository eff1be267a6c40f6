/** Appends to a journal until the disk takes no more, then tells how many entries went in and what stopped it: `FILE`. */
import {AppError} from '../../src/base/errors.ts'
import {createJournal} from '../../src/ledger/journal-file.ts'

const [, , path = ''] = process.argv
const journal = createJournal(path, {run: 'r'})
const codes: string[] = []
let written = 0
while (codes.length < 2) {
  try {
    written = journal.append({text: 'x'.repeat(300)})
  } catch (error) {
    codes.push(error instanceof AppError ? `${error.code} ${error.exit}` : String(error))
  }
}
journal.append({small: true})
process.stdout.write(JSON.stringify({written, codes}))
