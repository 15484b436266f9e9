package io.carillon.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The poms have what published modules need, and each rule rejects a bad sample. */
class PomRulesTest {

    private static final PomRules PRODUCT = new PomRules(SourceTree.here());
    private static final String ADDRESS = "<url>https://example.com/p</url>"
            + "<scm><url>https://example.com/s</url><connection>scm:git:https://example.com/s</connection></scm>";
    private static final String PARENT = """
            <project><version>0.1.0-SNAPSHOT</version><name>Sample</name><description>A sample.</description>
            <licenses><license><url>https://example.com/l</url></license></licenses>
            <developers><developer><name>The authors</name></developer></developers>
            <properties><api.baseline>none</api.baseline><api.check.skip>true</api.check.skip></properties>
            <build><pluginManagement><plugins><plugin><artifactId>maven-jar-plugin</artifactId><configuration>
            <archive><manifestEntries><Automatic-Module-Name>${module.name}</Automatic-Module-Name></manifestEntries>
            </archive></configuration></plugin></plugins></pluginManagement></build></project>
            """;
    private static final String MODULE = """
            <project><artifactId>carillon-one</artifactId><name>One</name><description>The first.</description>
            <properties><module.name>io.carillon.one</module.name></properties></project>
            """;

    @TempDir
    Path root;

    private PomRules rules;

    @BeforeEach
    void createValidCheckout() throws IOException {
        rules = new PomRules(new SourceTree(root));
        Files.createDirectories(root.resolve("one"));
        write("pom.xml", PARENT);
        write("one/pom.xml", MODULE);
        assertThat(violations(rules)).isEmpty();
    }

    @Test
    void the_product_follows_all_rules() {
        assertThat(violations(PRODUCT)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"name", "description", "licenses", "developers"})
    void a_parent_without_metadata_is_stopped(String element) throws IOException {
        write("pom.xml", without(element, PARENT));

        assertThat(rules.missingMetadata()).singleElement().asString().startsWith("pom.xml needs " + element);
    }

    @ParameterizedTest
    @ValueSource(strings = {"name", "description"})
    void a_module_without_metadata_is_stopped(String element) throws IOException {
        write("one/pom.xml", without(element, MODULE));

        assertThat(rules.missingMetadata()).containsExactly("one/pom.xml needs " + element);
    }

    @Test
    void a_module_that_is_not_published_needs_no_metadata() throws IOException {
        write("one/pom.xml", "<project><properties><maven.deploy.skip>true</maven.deploy.skip></properties></project>");

        assertThat(violations(rules)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "<module.name>io.carillon</module.name>", "<module.name>carillon-one</module.name>"})
    void a_module_with_another_module_name_is_stopped(String name) throws IOException {
        write("one/pom.xml", MODULE.replace("<module.name>io.carillon.one</module.name>", name));

        assertThat(rules.wrongModuleNames())
                .singleElement()
                .asString()
                .startsWith("one/pom.xml needs the property module.name with the value io.carillon.one");
    }

    @Test
    void a_manifest_without_the_module_name_is_stopped() throws IOException {
        write("pom.xml", PARENT.replace("${module.name}", "io.carillon"));

        assertThat(rules.wrongModuleNames())
                .containsExactly("pom.xml needs Automatic-Module-Name with ${module.name} in the manifest of jars");
    }

    @Test
    void a_release_without_addresses_is_stopped() throws IOException {
        String release = PARENT.replace("0.1.0-SNAPSHOT", "0.1.0");
        write("pom.xml", release);
        assertThat(rules.missingAddresses())
                .containsExactly(
                        "pom.xml needs url for a release",
                        "pom.xml needs scm/url for a release",
                        "pom.xml needs scm/connection for a release");

        write("pom.xml", release.replace("<name>", ADDRESS + "<name>"));
        assertThat(violations(rules)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.1.1-SNAPSHOT", "0.2.0-SNAPSHOT", "1.0.0"})
    void a_later_version_without_a_comparison_of_the_api_is_stopped(String version) throws IOException {
        String later = PARENT.replace("0.1.0-SNAPSHOT", version).replace("<name>", ADDRESS + "<name>");
        write("pom.xml", later);
        assertThat(rules.missingApiCheck()).hasSize(1);
        write("pom.xml", later.replace(">true<", ">false<"));
        assertThat(rules.missingApiCheck()).hasSize(1);

        write("pom.xml", later.replace(">true<", ">false<").replace(">none<", ">0.1.0<"));
        assertThat(violations(rules)).isEmpty();
    }

    private static List<String> violations(PomRules rules) {
        return Stream.of(
                        rules.missingMetadata(),
                        rules.wrongModuleNames(),
                        rules.missingAddresses(),
                        rules.missingApiCheck())
                .flatMap(List::stream)
                .toList();
    }

    /** Removes the element that is a child of the project. */
    private static String without(String element, String pom) {
        String open = "<" + element + ">";
        String close = "</" + element + ">";
        int start = pom.indexOf(open);
        return pom.substring(0, start) + pom.substring(pom.indexOf(close) + close.length());
    }

    private void write(String path, String text) throws IOException {
        Files.writeString(root.resolve(path), text);
    }
}
