/** Bodies of `multipart/form-data` (RFC 7578). */
import {Refusal} from '../base/answer.ts'

interface FormPart {
  readonly name: string
  readonly fileName: string | undefined
  readonly content: Uint8Array
}

/** @throws Refusal 400 when the body is no such form */
export function formParts(body: Uint8Array, contentType: string | undefined): FormPart[] {
  const boundary = /^multipart\/form-data\b.*\bboundary="?([^";]+)"?/i.exec(contentType ?? '')?.[1]
  if (boundary === undefined) throw new Refusal(400, 'bad_request', 'The body must be multipart/form-data with a boundary.')
  const whole = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const mark = Buffer.from(`--${boundary}`)
  const parts: FormPart[] = []
  let from = whole.indexOf(mark)
  for (;;) {
    if (from < 0) throw new Refusal(400, 'bad_request', 'The multipart body ends early.')
    const start = from + mark.length
    if (whole.subarray(start, start + 2).toString() === '--') return parts
    from = whole.indexOf(Buffer.concat([Buffer.from('\r\n'), mark]), start)
    if (from < 0) continue
    parts.push(formPart(whole.subarray(start + 2, from)))
    from += 2
  }
}

function formPart(part: Buffer): FormPart {
  const gap = part.indexOf('\r\n\r\n')
  const head = part.subarray(0, Math.max(gap, 0)).toString()
  const disposition = head.split('\r\n').find(line => /^content-disposition:/i.test(line)) ?? ''
  return {
    name: /\bname="([^"]*)"/.exec(disposition)?.[1] ?? '',
    fileName: /\bfilename="([^"]*)"/.exec(disposition)?.[1],
    content: part.subarray(gap + 4),
  }
}
