package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.carillon.BulkActions;
import io.carillon.Carillon;
import io.carillon.Queues;
import io.carillon.Runs;
import io.carillon.Schedules;
import io.carillon.Schema;
import io.carillon.cli.Main;
import io.carillon.cli.shell.Shell;
import io.carillon.event.EventSources;
import io.carillon.event.Events;
import io.carillon.event.Relays;
import io.carillon.it.architecture.SourceTree;
import io.carillon.run.Enqueue;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.server.CarillonServer;
import io.carillon.workflow.WorkflowHandle;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** docs/surface.md maps every method of the library to its REST operation and its command; all names on it exist. */
class SurfacePageTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([`-].*?) \\| (.+?) \\| (.+?) \\|$");
    private static final Pattern WORD = Pattern.compile("`([^`]+)`");

    private static final Pattern GLOSSARY = Pattern.compile("(?m)^\\| \\*\\*.*\\| ([^|]*) \\|$");

    /** Option classes, whose accessors have no row. */
    private static final Set<Class<?>> OPTIONS = Set.of(Enqueue.class, ScheduleOptions.class);

    /** Words that the glossary rejects for one idea and allows for another. */
    private static final Set<String> WITH_ANOTHER_MEANING = Set.of(
            "trigger",
            "token",
            "server",
            "message",
            "role",
            "retry",
            "lock",
            "id",
            "laneClaim",
            "ledger",
            "history",
            "share",
            "consumer",
            "plan",
            "fire",
            "audit log",
            "partition",
            "destination");

    /** Methods without REST operation and command, which the page lists below its tables. */
    private static final Set<String> JAVA_ONLY = Set.of(
            "Carillon.on",
            "Carillon.in",
            "Carillon.close",
            "Carillon.consume",
            "Carillon.schedules",
            "Carillon.runs",
            "Carillon.queues",
            "Carillon.events",
            "Events.relays",
            "Events.sources",
            "EventSources.unpublished",
            "EventSources.removeUnpublished",
            "EventSources.skip",
            "EventSources.remove",
            "Enqueue.afterRun",
            "Enqueue.afterAll",
            "Enqueue.onFailure",
            "When.next",
            "When.nextIncludingExcluded",
            "When.excludes",
            "When.fixedPeriod",
            "When.withPeriod",
            "ScheduleOptions.defaults",
            "BulkActions.continueWhile",
            "BulkActions.requireAllowed",
            "BulkActions.begin",
            "BulkActions.applyChunk");

    private static final Set<String> API_PACKAGES = Set.of(
            "io.carillon",
            "io.carillon.event",
            "io.carillon.workflow",
            "io.carillon.run",
            "io.carillon.schedule",
            "io.carillon.spi",
            "io.carillon.webhook");

    private static final Map<List<String>, String> HELP = new ConcurrentHashMap<>();

    private record Row(List<String> java, List<String> rest, List<String> command) {}

    private static final List<Row> ROWS = ROW.matcher(
                    SourceTree.read(SourceTree.here().root().resolve("docs/surface.md")))
            .results()
            .map(SurfacePageTest::row)
            .toList();

    private static Row row(MatchResult line) {
        return new Row(words(line.group(1)), words(line.group(2)), words(line.group(3)));
    }

    /** Returns the words in backticks; none for a cell that starts with a hyphen, followed by the reason. */
    private static List<String> words(String cell) {
        return cell.startsWith("-")
                ? List.of()
                : WORD.matcher(cell).results().map(word -> word.group(1)).toList();
    }

    @Test
    void every_method_of_the_library_has_a_row() {
        Set<String> named = new TreeSet<>(JAVA_ONLY);
        ROWS.forEach(row -> named.addAll(row.java()));
        Set<String> actual = new TreeSet<>();
        for (Class<?> type : List.of(
                Carillon.class,
                Enqueue.class,
                Schedules.class,
                When.class,
                ScheduleOptions.class,
                Runs.class,
                WorkflowHandle.class,
                BulkActions.class,
                Queues.class,
                Events.class,
                Relays.class,
                EventSources.class,
                Schema.class)) actual.addAll(methods(type));

        assertThat(named).containsExactlyElementsOf(actual);
    }

    private static Set<String> methods(Class<?> type) {
        Set<String> names = new TreeSet<>();
        for (Method method : type.getDeclaredMethods()) {
            boolean isPublic = Modifier.isPublic(method.getModifiers()) && !method.isSynthetic();
            boolean fromObject = Set.of("equals", "hashCode", "toString").contains(method.getName());
            if (isPublic && !fromObject && !isComponent(type, method))
                names.add(type.getSimpleName() + "." + method.getName());
        }
        return names;
    }

    private static boolean isComponent(Class<?> type, Method method) {
        if (OPTIONS.contains(type)) return method.getParameterCount() == 0 && !Modifier.isStatic(method.getModifiers());
        RecordComponent[] components = type.getRecordComponents();
        return components != null
                && method.getParameterCount() == 0
                && Arrays.stream(components).anyMatch(one -> one.getName().equals(method.getName()));
    }

    @Test
    void no_method_takes_a_lambda_for_options() {
        List<JavaMethod> methods = new ClassFileImporter()
                        .withImportOption(location -> !location.contains("/test-classes/"))
                        .importPackages("io.carillon")
                        .stream()
                        .filter(type -> API_PACKAGES.contains(type.getPackageName()))
                        .flatMap(type -> type.getMethods().stream())
                        .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
                        .toList();

        assertThat(methods).extracting(JavaMethod::getName).contains("handleReturning", "upsert", "registerOn");
        assertThat(methods.stream()
                        .filter(method -> method.getRawParameterTypes().stream()
                                .anyMatch(parameter -> parameter.isEquivalentTo(UnaryOperator.class)))
                        .map(JavaMethod::getFullName))
                .isEmpty();
    }

    @Test
    void every_operation_has_a_row_and_every_field_that_a_row_names_exists() throws IOException {
        JsonNode description = description();
        Set<String> operations = new TreeSet<>();
        List<String> missing = new ArrayList<>();
        for (JsonNode path : description.path("paths"))
            for (JsonNode operation : path) {
                String id = operation.path("operationId").stringValue("");
                operations.add(id);
                Set<String> fields = fields(description, operation);
                for (Row row : ROWS)
                    if (!row.rest().isEmpty() && row.rest().get(0).equals(id))
                        row.rest().stream()
                                .skip(1)
                                .filter(field -> !fields.contains(field))
                                .forEach(field -> missing.add(id + " " + field));
            }

        assertThat(missing).isEmpty();
        assertThat(ROWS.stream()
                        .filter(row -> !row.rest().isEmpty())
                        .map(row -> row.rest().get(0)))
                .containsAll(operations)
                .allMatch(operations::contains);
    }

    private static JsonNode description() throws IOException {
        try (InputStream in = CarillonServer.class.getResourceAsStream("/io/carillon/server/openapi.json")) {
            return new JsonMapper().readTree(in);
        }
    }

    private static Set<String> fields(JsonNode description, JsonNode operation) {
        Set<String> names = new TreeSet<>();
        for (JsonNode parameter : operation.path("parameters"))
            names.add(parameter.path("name").stringValue(""));
        collect(description, operation.at("/requestBody/content/application~1json/schema"), names);
        return names;
    }

    private static void collect(JsonNode description, JsonNode schema, Set<String> names) {
        String reference = schema.path("$ref").stringValue("");
        JsonNode resolved = reference.isEmpty() ? schema : description.at(reference.substring(1));
        for (Map.Entry<String, JsonNode> field : resolved.path("properties").properties()) {
            names.add(field.getKey());
            collect(description, field.getValue(), names);
        }
    }

    @Test
    void every_command_and_option_that_a_row_names_is_in_the_help() {
        List<String> missing = new ArrayList<>();
        for (Row row : ROWS)
            for (String line : row.command()) {
                List<String> words = List.of(line.split(" ", -1));
                List<String> verbs =
                        words.stream().filter(word -> !word.startsWith("--")).toList();
                String help = help(verbs);
                words.stream()
                        .filter(word -> word.startsWith("--"))
                        .filter(option -> !Pattern.compile(option + "[= \\]\\n]")
                                .matcher(help)
                                .find())
                        .forEach(option -> missing.add(line + ": " + option));
            }

        assertThat(missing).isEmpty();
    }

    @Test
    void words_the_glossary_rejects_are_in_neither_rest_nor_the_help() throws IOException {
        StringBuilder texts = new StringBuilder(description().toString());
        ROWS.stream()
                .flatMap(row -> row.command().stream())
                .map(line -> List.of(line.replaceAll(" --.*", "").split(" ", -1)))
                .distinct()
                .forEach(verbs -> texts.append(help(verbs)));
        List<String> ruledOut = GLOSSARY.matcher(
                        SourceTree.read(SourceTree.here().root().resolve("docs/GLOSSARY.md")))
                .results()
                .flatMap(row -> Stream.of(row.group(1).split(", ", -1)))
                .filter(word -> !word.isBlank() && !WITH_ANOTHER_MEANING.contains(word))
                .toList();

        assertThat(ruledOut).hasSizeGreaterThan(30);
        assertThat(ruledOut.stream()
                        .filter(word -> Pattern.compile("\\b" + word + "s?\\b", Pattern.CASE_INSENSITIVE)
                                .matcher(texts)
                                .find()))
                .isEmpty();
    }

    private static String help(List<String> verbs) {
        return HELP.computeIfAbsent(verbs, SurfacePageTest::readHelp);
    }

    private static String readHelp(List<String> verbs) {
        StringWriter out = new StringWriter();
        Shell shell = new Shell(new PrintWriter(out, true), new PrintWriter(out, true), Map.of(), () -> Instant.EPOCH);
        int exit = Main.run(
                shell, Stream.concat(verbs.stream(), Stream.of("--help")).toArray(String[]::new));
        assertThat(exit).as("%s: %s", verbs, out).isZero();
        return out.toString();
    }
}
