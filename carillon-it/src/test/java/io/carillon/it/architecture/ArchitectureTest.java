package io.carillon.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Checks the product against the architecture rules, which docs/ARCHITECTURE.md explains. */
class ArchitectureTest {

    private static final SourceTree TREE = SourceTree.here();
    private static final SourceRules SOURCE_RULES = new SourceRules(TREE);
    private static JavaClasses product;

    @BeforeAll
    static void import_only_main_classes_of_carillon() {
        product = new ClassFileImporter().importPaths(TREE.mainClasses());
        assertThat(product).as("main classes under " + TREE.mainClasses()).isNotEmpty();
    }

    @Test
    void every_package_is_in_the_plan() {
        check(ArchitectureRules.EVERY_PACKAGE_IS_IN_THE_PLAN);
    }

    @Test
    void packages_use_only_what_the_plan_allows() {
        check(ArchitectureRules.PACKAGES_USE_ONLY_WHAT_THE_PLAN_ALLOWS);
    }

    @Test
    void packages_form_no_cycles() {
        check(ArchitectureRules.NO_PACKAGE_CYCLES);
    }

    @Test
    void no_internal_package_uses_an_entry_point() {
        check(ArchitectureRules.NO_INTERNAL_PACKAGE_USES_AN_ENTRY_POINT);
    }

    @Test
    void one_class_reads_the_wall_clock() {
        check(ArchitectureRules.ONE_CLASS_READS_THE_WALL_CLOCK);
    }

    @Test
    void threads_are_created_in_one_place() {
        check(ArchitectureRules.THREADS_ARE_MADE_IN_ONE_PLACE);
    }

    @Test
    void only_the_command_ends_the_jvm() {
        check(ArchitectureRules.ONLY_THE_COMMAND_ENDS_THE_JVM);
    }

    @Test
    void nothing_uses_java_serialization() {
        check(ArchitectureRules.NO_JAVA_SERIALIZATION);
    }

    @Test
    void api_signatures_mention_only_api_types() {
        check(ArchitectureRules.API_SIGNATURES_MENTION_ONLY_API_TYPES);
    }

    @Test
    void sql_uses_one_clock() {
        assertThat(SqlClocks.violations(TREE.root().resolve("carillon-core/src/main")))
                .isEmpty();
    }

    @Test
    void the_server_names_only_its_own_tables() {
        assertThat(ServerTables.violations(
                        TREE.root().resolve("carillon-server/src/main/java"),
                        TREE.root().resolve("carillon-core/src/main/resources")))
                .isEmpty();
    }

    @Test
    void files_stay_short() {
        assertThat(SOURCE_RULES.longFiles()).isEmpty();
    }

    @Test
    void lines_stay_short() {
        assertThat(SOURCE_RULES.longLines()).isEmpty();
    }

    @Test
    void packages_stay_small() {
        assertThat(SOURCE_RULES.fullPackages()).isEmpty();
    }

    @Test
    void every_main_package_has_package_documentation() {
        assertThat(SOURCE_RULES.packagesWithoutDocumentation()).isEmpty();
    }

    @Test
    void every_public_type_has_javadoc() {
        assertThat(SOURCE_RULES.typesWithoutJavadoc()).isEmpty();
    }

    @Test
    void every_package_belongs_to_one_module() {
        assertThat(SOURCE_RULES.packagesInTwoModules()).isEmpty();
    }

    private static void check(ArchRule rule) {
        rule.check(product);
    }
}
