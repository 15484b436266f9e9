package io.carillon.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each rule about sources rejects one small bad sample in a checkout with one module. */
class SourceRuleSamplesTest {

    private static final String MAIN = "one/src/main/java/io/carillon/run/";
    private static final String PACKAGE_INFO = "/** The package. */\n@NullMarked\npackage io.carillon.run;\n";

    @TempDir
    Path root;

    private SourceRules rules;

    @BeforeEach
    void createValidCheckout() throws IOException {
        rules = new SourceRules(new SourceTree(root));
        write("one/pom.xml", "<project/>");
        write(MAIN + "package-info.java", PACKAGE_INFO);
        write(MAIN + "Good.java", "/** Good. */\n@A\n@B(\n        1)\npublic final class Good {}\n");
        assertThat(violations()).isEmpty();
    }

    @Test
    void a_main_file_of_more_than_400_lines_is_stopped() throws IOException {
        write(MAIN + "Long.java", "\n".repeat(400));
        assertThat(violations()).isEmpty();
        write(MAIN + "Long.java", "\n".repeat(400) + "    // why\n" + "/** Long\n * comment. */\n".repeat(20));
        assertThat(violations()).isEmpty();

        write(MAIN + "Long.java", "\n".repeat(401));
        assertThat(rules.longFiles())
                .containsExactly(MAIN + "Long.java has more than 400 lines of code: split it by responsibility");
    }

    @Test
    void a_test_file_of_more_than_600_lines_is_stopped() throws IOException {
        String test = "one/src/test/java/LongTest.java";
        write(test, "\n".repeat(600));
        assertThat(violations()).isEmpty();

        write(test, "\n".repeat(601));
        assertThat(rules.longFiles())
                .containsExactly(test + " has more than 600 lines of code: split it by responsibility");
    }

    @Test
    void a_package_of_more_than_25_files_is_stopped() throws IOException {
        for (int i = 0; i < 23; i++) {
            write(MAIN + "Type" + i + ".java", "class Type" + i + " {}\n");
        }
        assertThat(violations()).isEmpty();

        write(MAIN + "OneTooMany.java", "class OneTooMany {}\n");
        assertThat(rules.fullPackages())
                .containsExactly("one/src/main/java/io/carillon/run has 26 files, more than 25: split the package by"
                        + " responsibility");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "@NullMarked\npackage io.carillon.run;\n",
                "/** The package. */\npackage io.carillon.run;\n",
            })
    void a_package_with_incomplete_documentation_is_stopped(String packageInfo) throws IOException {
        write(MAIN + "package-info.java", packageInfo);

        assertThat(rules.packagesWithoutDocumentation()).hasSize(1);
    }

    @Test
    void a_package_without_documentation_is_stopped() throws IOException {
        Files.delete(root.resolve(MAIN + "package-info.java"));

        assertThat(rules.packagesWithoutDocumentation())
                .singleElement()
                .asString()
                .startsWith("one/src/main/java/io/carillon/run needs a package-info.java");
    }

    @Test
    void a_package_in_two_modules_is_stopped() throws IOException {
        write("two/pom.xml", "<project/>");
        write(MAIN.replace("one/", "two/") + "package-info.java", PACKAGE_INFO);

        assertThat(rules.packagesInTwoModules()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"public record Bad() {}", "@A\npublic interface Bad {}", "import a.B;\n\npublic enum Bad {}"})
    void a_public_type_without_javadoc_is_stopped(String source) throws IOException {
        write(MAIN + "Bad.java", source);

        assertThat(rules.typesWithoutJavadoc()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT now()",
                "SELECT NOW ( )",
                "DEFAULT current_timestamp",
                "SELECT clock_timestamp() - due_at",
                "SELECT statement_timestamp()",
                "SELECT transaction_timestamp()",
                "SELECT localtimestamp(0)",
                "SELECT CURRENT_DATE",
                "SELECT current_time",
                "SELECT localtime",
                "SELECT timeofday()",
                "SELECT 'now'::timestamptz",
            })
    void another_clock_in_sql_is_stopped(String sql) throws IOException {
        write("one/src/main/resources/db/V1.sql", "-- one\n" + sql + ";\n");
        write(MAIN + "Block.java", "class Block { String a = \"\"\"\n    " + sql + "\n    \"\"\"; }");
        write(MAIN + "Text.java", "class Text { char quote = '\"'; String a = \"say \\\"a\\\" \" + \"" + sql + "\"; }");

        assertThat(clockViolations()).hasSize(3).anyMatch(line -> line.startsWith("V1.sql uses "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "AS $$ SELECT statement_timestamp(); $$;",
                "AS $body$ SELECT statement_timestamp() $body$;",
                "AS 'SELECT statement_timestamp()';",
                "RETURN statement_timestamp();",
            })
    void only_the_one_definition_of_our_clock_may_read_the_time(String body) throws IOException {
        String definition =
                "CREATE OR REPLACE FUNCTION carillon.clock() RETURNS timestamptz\n    LANGUAGE sql STABLE\n    " + body;
        write("one/src/main/resources/db/V1.sql", definition + "\nSELECT carillon.clock();\n");
        assertThat(clockViolations()).isEmpty();

        write("one/src/main/resources/db/V2.sql", definition + " SELECT now();");
        assertThat(clockViolations())
                .containsExactly(
                        "V2.sql uses now(: use carillon.clock()",
                        "carillon.clock() is defined more than once: [V1.sql, V2.sql]");
    }

    @Test
    void comments_may_name_a_clock() throws IOException {
        write("one/src/main/resources/db/V1.sql", "-- not now()\n/* nor\n current_date */ SELECT 1;");
        write(
                MAIN + "Talk.java",
                "// \"now()\n/* now() \"\"\" */ class Talk { /** now() */ String a = \"SELECT 1 -- now()\";"
                        + " boolean now() { return now(); } }");

        assertThat(clockViolations()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 1 FROM carillon.run WHERE id = :id",
                "DELETE FROM Carillon.Run",
                "SELECT 1 FROM \\\"carillon\\\".\\\"run\\\"",
                "SELECT carillon.claim(1)",
                "DELETE FROM carillon.\" + table + \" WHERE true",
            })
    void sql_of_the_server_about_a_table_of_the_engine_is_stopped(String sql) throws IOException {
        createMigrations();
        write(MAIN + "Bad.java", "class Bad { String a = \"" + sql + "\"; }");

        assertThat(tableViolations()).singleElement().asString().startsWith("Bad.java uses carillon.");
    }

    @Test
    void sql_of_the_server_may_name_its_own_tables_and_the_clock() throws IOException {
        createMigrations();
        write(
                MAIN + "Good.java",
                "// carillon.run\nclass Good { String a = \"UPDATE carillon.audit"
                        + " SET at = carillon.clock() -- carillon.run\";"
                        + " String b = \"io.carillon.run carillon.http carillon.project\"; }");

        assertThat(tableViolations()).isEmpty();
    }

    private void createMigrations() throws IOException {
        write(
                "one/src/main/resources/0001_tables.sql",
                "CREATE FUNCTION carillon.clock() RETURNS int;\nCREATE TABLE carillon.project ();\n"
                        + "CREATE TABLE carillon.run ();\nCREATE OR REPLACE FUNCTION carillon.claim(n int) RETURNS"
                        + " int;");
        write("one/src/main/resources/0002_server_tables.sql", "CREATE TABLE carillon.audit ();");
    }

    private List<String> tableViolations() {
        return ServerTables.violations(root.resolve("one/src/main/java"), root.resolve("one/src/main/resources"));
    }

    private List<String> clockViolations() {
        return SqlClocks.violations(root.resolve("one/src/main"));
    }

    @Test
    void a_line_of_more_than_120_columns_is_found() throws Exception {
        write(MAIN + "Wide.java", "// " + "x".repeat(117));
        assertThat(violations()).isEmpty();

        write(MAIN + "Wide.java", "\n// " + "x".repeat(118));
        assertThat(rules.longLines()).containsExactly(MAIN + "Wide.java:2 has more than 120 columns: wrap the line");
    }

    private List<String> violations() {
        return List.of(
                        rules.longFiles(),
                        rules.longLines(),
                        rules.fullPackages(),
                        rules.packagesWithoutDocumentation(),
                        rules.packagesInTwoModules(),
                        rules.typesWithoutJavadoc())
                .stream()
                .flatMap(List::stream)
                .toList();
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
