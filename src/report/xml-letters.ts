/** The text with what XML 1.0 and UTF-8 cannot hold (halves of characters, and two that are none) replaced. */
export const xmlLetters = (text: string): string =>
  text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|[\ufffe\uffff]/g, '\ufffd')
