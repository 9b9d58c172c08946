/** Lists the code blocks of one language. */
export function listCodeBlocks(markdown: string, language: string): string[] {
  return Array.from(
    markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')),
    match => match[1] ?? '',
  );
}

interface DocumentLink {
  /** The path from the root of the checkout. */
  readonly file: string;
  readonly anchor: string | undefined;
}

/** Lists the links of a document to files of this checkout. */
export function listLinks(markdown: string, document: string): readonly DocumentLink[] {
  const found = markdown.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g);
  return Array.from(found, ([, target = '', anchor]) => {
    const { pathname } = new URL(target === '' ? `/${document}` : target, `file:///${document}`);
    return { file: pathname.slice(1), anchor };
  });
}

/** Lists the anchors of the headings, as GitHub creates them. */
export function listAnchors(markdown: string): readonly string[] {
  return Array.from(markdown.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
