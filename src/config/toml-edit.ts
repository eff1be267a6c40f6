/**
 * Changes of a TOML text that touch what is changed and nothing else: every other line keeps its bytes, comments and
 * spelling included. What is removed takes along the comments inside it, and none before or behind it.
 */
import {stringify} from 'smol-toml'
import {addAll} from '../base/many.ts'
import {layoutOf, type Span, samePath, startsWith, type TomlPair, type TomlPath, type TomlSection} from './toml-layout.ts'

export type TomlValue = string | number | boolean

export type TomlEdit =
  | {readonly edit: 'remove'; readonly path: TomlPath}
  | {readonly edit: 'set'; readonly path: TomlPath; readonly value: TomlValue}
  /** A table that was not there. */
  | {readonly edit: 'table'; readonly path: TomlPath; readonly fields: Readonly<Record<string, TomlValue>>}

/**
 * @param text - valid TOML
 * @returns the new text; the caller parses it, for there are shapes in which a key cannot be added
 */
export function applyTomlEdit(text: string, edit: TomlEdit): string {
  switch (edit.edit) {
    case 'remove':
      return removed(text, edit.path)
    case 'set':
      return set(text, edit.path, edit.value)
    case 'table':
      return withTable(text, edit.path, edit.fields)
    default:
      return edit satisfies never
  }
}

function removed(text: string, path: TomlPath): string {
  const sections = layoutOf(text)
  const cuts: Span[] = []
  let open: {from: number; to: number} | undefined
  for (const section of sections) {
    if (section.header !== undefined && startsWith(section.path, path)) {
      const to = lineEnd(text, section.pairs.at(-1)?.to ?? section.header.to)
      // Tables of the same table, one behind the other, go with all that is between them.
      if (open !== undefined) open.to = to
      else {
        open = {from: lineStart(text, section.header.from), to}
        cuts.push(open)
      }
      continue
    }
    open = undefined
    addAll(cuts, pairCuts(text, section.pairs, path))
  }
  return cuts.toReversed().reduce(cut, text)
}

/** Lines of the pairs at or below the path; of inline tables that hold it, only its members. */
const pairCuts = (text: string, pairs: readonly TomlPair[], path: TomlPath): Span[] =>
  pairs.flatMap(pair => {
    if (startsWith(pair.path, path)) return [{from: lineStart(text, pair.from), to: lineEnd(text, pair.to)}]
    return startsWith(path, pair.path) ? memberCuts(text, pair.members ?? [], path) : []
  })

function memberCuts(text: string, members: readonly TomlPair[], path: TomlPath): Span[] {
  const stays = (member: TomlPair) => !startsWith(member.path, path)
  return members.flatMap((member, index): Span[] => {
    if (stays(member)) return startsWith(path, member.path) ? memberCuts(text, member.members ?? [], path) : []
    const {from, comma} = member
    if (comma !== undefined) return [wholeLine(text, {from, to: spaceEnd(text, comma + 1)})]
    // The comma before the last one goes with it; where it is on another line it may stay.
    const before = members.slice(0, index).findLast(stays)?.comma
    const isOneLine = before !== undefined && !text.slice(before, from).includes('\n')
    return [isOneLine ? {from: before, to: member.to} : wholeLine(text, {from, to: member.to})]
  })
}

/** With the rest of its line, where it has one for itself. */
function wholeLine(text: string, {from, to}: Span): Span {
  const start = lineStart(text, from)
  const rest = text.slice(to, lineEnd(text, to))
  return text.slice(start, from).trim() === '' && /^[ \t]*(#|\r?\n)/.test(rest) ? {from: start, to: to + rest.length} : {from, to}
}

/** Of two empty lines that meet where something was, one stays; at the top and at the end of the text none. */
function cut(text: string, {from, to}: Span): string {
  const before = text.slice(0, from)
  const after = text.slice(to)
  const lastLineEnd = before.indexOf('\n', before.trimEnd().length)
  if (after.trim() === '' && lastLineEnd >= 0) return before.slice(0, lastLineEnd + 1)
  const meets = before === '' || /(^|\n)[ \t]*\r?\n$/.test(before)
  return before + (meets ? after.replace(/^([ \t]*\r?\n)+/, '') : after)
}

function set(text: string, path: TomlPath, value: TomlValue): string {
  const sections = layoutOf(text)
  const there = everyPair(sections).find(pair => samePath(pair.path, path))
  if (there !== undefined) return spliced(text, there.value, literal(value))
  const parent = path.slice(0, -1)
  const field = `${keyText(path.at(-1) ?? '')} = ${literal(value)}`
  const own = sections.find(section => !section.repeated && samePath(section.path, parent))
  if (own !== undefined) return withLine(text, own, field)
  const inline = everyPair(sections).find(pair => pair.members !== undefined && samePath(pair.path, parent))
  if (inline !== undefined) return withMember(text, inline, field)
  // Written as `parent.other = …`: then it can be written in no other way.
  const beside = (base: TomlPath) => `${dotted(path.slice(base.length))} = ${literal(value)}`
  for (const section of sections.filter(it => startsWith(parent, it.path))) {
    const last = section.pairs.findLast(pair => startsWith(pair.path, parent))
    if (last !== undefined) return withLine(text, section, beside(section.path), last)
  }
  for (const holder of everyPair(sections).filter(it => startsWith(parent, it.path))) {
    const last = holder.members?.findLast(pair => startsWith(pair.path, parent))
    if (last !== undefined) return spliced(text, {from: last.to, to: last.to}, `, ${beside(holder.path)}`)
  }
  return withTable(text, parent, {[path.at(-1) ?? '']: value})
}

function withTable(text: string, path: TomlPath, fields: Readonly<Record<string, TomlValue>>): string {
  const lines = Object.entries(fields).map(([key, value]) => `${keyText(key)} = ${literal(value)}`)
  const holder = everyPair(layoutOf(text)).findLast(pair => pair.members !== undefined && startsWith(path, pair.path))
  if (holder !== undefined) return withMember(text, holder, `${dotted(path.slice(holder.path.length))} = {${lines.join(', ')}}`)
  const newline = newlineOf(text)
  const block = [`[${dotted(path)}]`, ...lines, ''].join(newline)
  return text.trim() === '' ? block : `${text.trimEnd()}${newline}${newline}${block}`
}

/** Behind the last pair of the section, or behind the one that is given. */
function withLine(text: string, {header, pairs}: TomlSection, line: string, behind = pairs.at(-1)): string {
  const newline = newlineOf(text)
  const before = behind ?? header
  if (before === undefined) return atTop(text, line)
  const start = lineStart(text, before.from)
  const indent = /^[ \t]*/.exec(text.slice(start, before.from))?.[0] ?? ''
  const at = lineEnd(text, before.to)
  const ended = text[at - 1] === '\n' ? '' : newline
  return `${text.slice(0, at)}${ended}${indent}${line}${newline}${text.slice(at)}`
}

/** Before the first table and the comment right above it; below what stands at the top for itself. */
function atTop(text: string, line: string): string {
  const newline = newlineOf(text)
  const table = layoutOf(text)[1]?.header?.from
  if (table === undefined) return `${text}${text === '' || text.endsWith('\n') ? '' : newline}${line}${newline}`
  const head = text.slice(0, lineStart(text, table))
  const at = commentAbove(head)
  return `${text.slice(0, at)}${line}${newline}${newline}${text.slice(at)}`
}

function withMember(text: string, table: TomlPair, member: string): string {
  const last = table.members?.at(-1)
  if (last === undefined) return spliced(text, {from: table.value.from + 1, to: table.value.from + 1}, member)
  return spliced(text, {from: last.to, to: last.to}, `, ${member}`)
}

const everyPair = (sections: readonly TomlSection[]): readonly TomlPair[] =>
  sections.filter(section => !section.repeated).flatMap(section => section.pairs.flatMap(withMembers))

const withMembers = (pair: TomlPair): TomlPair[] => [pair, ...(pair.members ?? []).flatMap(withMembers)]

const spliced = (text: string, {from, to}: Span, piece: string): string => text.slice(0, from) + piece + text.slice(to)

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1

/** Where the lines of comment begin that end a text of whole lines. */
function commentAbove(head: string): number {
  let at = head.length
  while (at > 0) {
    const start = lineStart(head, at - 1)
    if (!head.slice(start, at).trimStart().startsWith('#')) break
    at = start
  }
  return at
}

/** Behind its end of line. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

const spaceEnd = (text: string, at: number): number => at + (/^[ \t]*/.exec(text.slice(at))?.[0].length ?? 0)

const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

const literal = (value: TomlValue): string =>
  stringify({key: value})
    .replace(/^key = /, '')
    .trimEnd()

const keyText = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : literal(key))

const dotted = (path: TomlPath): string => path.map(keyText).join('.')
