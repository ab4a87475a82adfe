/**
 * Refuses `record[name]` where the name is any text: every object literal inherits `constructor`, `toString` and more, so a
 * foreign name finds what nobody set, and `record['__proto__'] = value` sets nothing. ownValue and setOwnValue of
 * libs/domain see only what was set. A name of a fixed list of words is no concern, since the type says which there are.
 */
import ts from 'typescript';

const ANY_TEXT = ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral | ts.TypeFlags.StringMapping;

export const noInheritedLookup = {
  meta: {
    type: 'problem',
    fixable: 'code',
    schema: [],
    messages: {
      read: 'Any text as a name may be "constructor": use ownValue(record, name) of libs/domain, or a Map.',
      write: 'Any text as a name may be "__proto__": use setOwnValue(record, name, value) of libs/domain, or a Map.',
      test: 'Any text as a name may be "constructor": use Object.hasOwn(record, name).',
    },
  },
  create(context) {
    const services = context.sourceCode.parserServices;
    const checker = services.program.getTypeChecker();
    const partsOf = (type) => (type.isUnion() ? type.types.flatMap(partsOf) : [type]);
    const isAnyText = (node) => partsOf(services.getTypeAtLocation(node)).some((type) => (type.flags & ANY_TEXT) !== 0);
    const isRecord = (node) =>
      partsOf(services.getTypeAtLocation(node)).some((type) => checker.getIndexInfoOfType(type, ts.IndexKind.String));
    const textOf = (node) => context.sourceCode.getText(node);
    return {
      MemberExpression(node) {
        if (!node.computed || !isAnyText(node.property) || !isRecord(node.object)) return;
        const { parent } = node;
        if (parent.type === 'UnaryExpression' && parent.operator === 'delete') return;
        if (parent.type === 'AssignmentExpression' && parent.left === node) {
          context.report({ node, messageId: 'write' });
          return;
        }
        const fix = (fixer) => fixer.replaceText(node, `ownValue(${textOf(node.object)}, ${textOf(node.property)})`);
        context.report({ node, messageId: 'read', fix });
      },
      'BinaryExpression[operator="in"]'(node) {
        if (node.left.type !== 'PrivateIdentifier' && isAnyText(node.left)) context.report({ node, messageId: 'test' });
      },
    };
  },
};
