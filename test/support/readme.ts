/** The code blocks of one language. */
export function listCodeBlocks(markdown: string, language: string): string[] {
  return Array.from(
    markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')),
    match => match[1] ?? '',
  );
}

interface Link {
  /** From the folder of the checkout on. */
  readonly file: string;
  readonly anchor: string | undefined;
}

/** What a document links to in this checkout. */
export function listLinks(markdown: string, document: string): readonly Link[] {
  const found = markdown.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g);
  return Array.from(found, ([, target = '', anchor]) => {
    const { pathname } = new URL(target === '' ? `/${document}` : target, `file:///${document}`);
    return { file: pathname.slice(1), anchor };
  });
}

/** The addresses of headings, as GitHub makes them. */
export function listAnchors(markdown: string): readonly string[] {
  return Array.from(markdown.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
