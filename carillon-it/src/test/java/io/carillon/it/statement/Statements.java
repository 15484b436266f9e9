package io.carillon.it.statement;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** The statements of the store, read from the constants of its classes: {@code Class.CONSTANT} and its text. */
public final class Statements {
    private static final Pattern WRITES = Pattern.compile(
            "\\b(INSERT\\s+INTO|DELETE\\s+FROM|UPDATE\\s+carillon\\.|COPY\\s+carillon\\.[^;]*\\bFROM\\s+STDIN)",
            Pattern.CASE_INSENSITIVE);

    /** Migrations are excluded: they have separate tests and run before the engine starts. */
    private static final Pattern MIGRATION = Pattern.compile("(Migrat|Schema(State|Mode)|SqlScript).*");

    private static final Map<String, String> ALL = read();

    private static final Map<String, String> BARE = new ConcurrentHashMap<>();

    private Statements() {}

    /** Returns all string constants of the package {@code io.carillon.internal.postgres}. */
    public static Map<String, String> all() {
        return new TreeMap<>(ALL);
    }

    private static Map<String, String> read() {
        Map<String, String> found = new TreeMap<>();
        for (JavaClass type : new ClassFileImporter().importPackages("io.carillon.internal.postgres")) {
            if (MIGRATION.matcher(type.getSimpleName()).matches()) continue;
            for (Field field : type.reflect().getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) || field.getType() != String.class) continue;
                found.put(type.getSimpleName() + "." + field.getName(), text(field));
            }
        }
        return found;
    }

    /**
     * Returns the statements that write rows. A statement that calls a writing function names the tables in a comment,
     * which {@link StatementRuleTest} checks.
     */
    public static Map<String, String> writing() {
        Map<String, String> writing = all();
        writing.values().removeIf(text -> !WRITES.matcher(text).find());
        return writing;
    }

    public static String text(String name) {
        String text = ALL.get(name);
        if (text == null) throw new AssertionError("No constant " + name);
        return text;
    }

    private static String text(Field field) {
        try {
            field.setAccessible(true);
            return (String) field.get(null);
        } catch (IllegalAccessException e) {
            throw new AssertionError("Cannot read " + field, e);
        }
    }

    /** Returns the text without parameter names or numbers and without layout, as it is recognized on the wire. */
    public static String bare(String sql) {
        return BARE.computeIfAbsent(sql, Statements::stripped);
    }

    private static String stripped(String sql) {
        return sql.replaceAll("(?<!:):[a-zA-Z][a-zA-Z0-9]*|\\$\\d+", "?")
                .replaceAll("\\s+", " ")
                .strip();
    }
}
