package io.carillon.it.architecture;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds log statements that write text of a caller without escaping it. Each argument must be escaped, an exception, of
 * a type without text, or one of the expressions that cannot contain such text.
 */
public record LogArguments(SourceTree tree) {
    private static final Pattern CALL =
            Pattern.compile("\\b(?:log|accessLog|logger|LOG)\\s*\\.(?:trace|debug|info|warn|error)\\(");
    private static final Pattern LITERAL = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"");
    private static final Pattern CONCATENATION = Pattern.compile("\\+ *[a-z(]|[a-z)] *\\+|\\.formatted\\(");
    private static final String ESCAPED = "ControlCharacters.escape(";
    private static final String NODE_ID = "PublicId.ofNode(";
    private static final String TYPES_WITHOUT_TEXT = "(?:byte|short|int|long|boolean|double|Integer|Long|UUID|RunId"
            + "|Duration|Instant|\\w*(?:Exception|Error|Throwable|Kind))";

    /** The ends of expressions that are numbers, times, ids, enum values, or names that {@code Names} has checked. */
    private static final Set<String> SAFE_ENDS = Set.of(
            // Numbers, flags and times.
            "attempt()",
            "number()",
            "size()",
            "sum()",
            "count()",
            "version()",
            "epoch()",
            "offset()",
            "port()",
            "concurrency()",
            "status()",
            "statusCode()",
            "deadRows()",
            "nodes()",
            "released()",
            "quarantined()",
            "toMillis()",
            "from()",
            "to()",
            "until()",
            "plannedAt()",
            "isRowSecurityActive()",
            "getHostAddress()",
            "remoteAddress()",
            // Ids.
            "id()",
            "run()",
            "node.get()",
            "RunId(runs.get(0))",
            // Checked names.
            "queue()",
            "project()",
            "target().name()",
            "schedule().name()",
            "schedule.name()",
            "schedule",
            "project",
            "name",
            "names",
            // Constants of the code: classes, routes, error codes, files, modes.
            "getSimpleName()",
            "getName()",
            "code()",
            "file()",
            "mode().text()",
            "pending.path",
            "expiredPartition.partition");

    /** Text that the code itself composes, by file. */
    private static final Set<String> OWN_TEXTS = Set.of(
            // Kafka allows letters, digits, dot, hyphen and underscore in names of topics only.
            "KafkaReader.java name(partition)",
            "DataSources.java missing",
            "DataSources.java advice",
            "ScheduleMaintenance.java rules",
            "Engine.java what",
            "Maintenance.java what",
            "Heartbeat.java why",
            "AddressGuard.java why",
            "ExpiredRows.java table",
            // Checked by a pattern before.
            "RequestDispatcher.java method",
            "RequestDispatcher.java pending.requestId",
            // An exception: the parameter of a lambda has no type.
            "Threads.java failure");

    /** Modules without text of callers: the embedded server does not know the core, the benchmark is not published. */
    private static final Set<String> EXCLUDED_MODULES = Set.of("carillon-embedded", "carillon-bench");

    /** Returns the arguments that are not safe. */
    public List<String> violations() {
        return tree.mainJava().stream()
                .filter(file -> EXCLUDED_MODULES.stream()
                        .noneMatch(module -> tree.shown(file).startsWith(module + "/")))
                .flatMap(this::violations)
                .toList();
    }

    private Stream<String> violations(Path file) {
        String source = SourceTree.read(file);
        List<String> found = new ArrayList<>();
        Matcher call = CALL.matcher(source);
        while (call.find()) {
            List<String> arguments = arguments(source, call.end());
            String message = LITERAL.matcher(arguments.get(0)).replaceAll("");
            if (CONCATENATION.matcher(message).find())
                found.add("%s: the message of a log line must be constant: use {} for %s"
                        .formatted(tree.shown(file), message.strip()));
            for (String argument : arguments.subList(1, arguments.size()))
                if (!isSafe(file.getFileName().toString(), source, argument))
                    found.add("%s logs %s: use ControlCharacters.escape(...), or add it to LogArguments if it cannot"
                                    .formatted(tree.shown(file), argument)
                            + " contain text of a caller");
        }
        return found.stream();
    }

    private static boolean isSafe(String file, String source, String argument) {
        if (argument.startsWith(ESCAPED) || argument.startsWith(NODE_ID) || OWN_TEXTS.contains(file + " " + argument))
            return true;
        if (SAFE_ENDS.stream()
                .anyMatch(end -> argument.equals(end) || argument.endsWith("." + end) || argument.endsWith(" " + end)))
            return true;
        String last = argument.substring(argument.lastIndexOf(' ') + 1);
        return last.matches("\\w+")
                && Pattern.compile("\\b" + TYPES_WITHOUT_TEXT + "\\s+" + last + "\\b")
                        .matcher(source)
                        .find();
    }

    /** Returns the arguments of the call whose opening parenthesis is before the position. */
    private static List<String> arguments(String source, int start) {
        List<String> arguments = new ArrayList<>();
        int depth = 1;
        int from = start;
        int at = start;
        Matcher literal = LITERAL.matcher(source);
        for (; depth > 0; at++) {
            char c = source.charAt(at);
            if (c == '"' && literal.find(at)) at = literal.end() - 1;
            else if (c == '(') depth++;
            else if (c == ')') depth--;
            else if (c == ',' && depth == 1) {
                arguments.add(oneLine(source.substring(from, at)));
                from = at + 1;
            }
        }
        arguments.add(oneLine(source.substring(from, at - 1)));
        return arguments;
    }

    /** Joins the lines of a chain of calls, so that the position of line breaks does not matter. */
    private static String oneLine(String argument) {
        return argument.strip().replaceAll("\\s*\\n\\s*(?=\\.)", "").replaceAll("\\s+", " ");
    }
}
