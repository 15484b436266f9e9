package io.carillon.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.carillon.it.walls.PublicShare;
import io.carillon.it.walls.SourceTree;
import io.carillon.it.walls.SourceWalls;
import io.carillon.it.walls.SqlClocks;
import io.carillon.it.walls.Walls;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Holds the product to its walls; docs/ARCHITECTURE.md says what they are for. */
class ArchitectureTest {

    private static final SourceTree TREE = SourceTree.here();
    private static final SourceWalls SOURCES = new SourceWalls(TREE);
    private static JavaClasses product;

    @BeforeAll
    static void import_only_our_own_main_classes() {
        product = new ClassFileImporter().importPaths(TREE.mainClasses());
        assertThat(product).as("main classes under " + TREE.mainClasses()).isNotEmpty();
    }

    @Test
    void every_package_is_a_room_of_the_plan() {
        holds(Walls.EVERY_PACKAGE_IS_A_ROOM_OF_THE_PLAN);
    }

    @Test
    void rooms_know_only_what_the_plan_allows() {
        holds(Walls.ROOMS_KNOW_ONLY_WHAT_THE_PLAN_ALLOWS);
    }

    @Test
    void packages_form_no_cycles() {
        holds(Walls.NO_PACKAGE_CYCLES);
    }

    @Test
    void nothing_inside_knows_the_front_door() {
        holds(Walls.NOTHING_INSIDE_KNOWS_THE_FRONT_DOOR);
    }

    @Test
    void the_wall_clock_has_one_home() {
        holds(Walls.ONE_HOME_FOR_THE_WALL_CLOCK);
    }

    @Test
    void threads_are_made_in_one_place() {
        holds(Walls.THREADS_ARE_MADE_IN_ONE_PLACE);
    }

    @Test
    void only_the_command_ends_the_jvm() {
        holds(Walls.ONLY_THE_COMMAND_ENDS_THE_JVM);
    }

    @Test
    void nothing_uses_java_serialization() {
        holds(Walls.NO_JAVA_SERIALIZATION);
    }

    @Test
    void inner_rooms_show_few_types() {
        assertThat(PublicShare.violations(product)).isEmpty();
    }

    @Test
    void sql_knows_one_clock() {
        assertThat(SqlClocks.violations(TREE.root().resolve("carillon-core/src/main")))
                .isEmpty();
    }

    @Test
    void files_stay_short() {
        assertThat(SOURCES.longFiles()).isEmpty();
    }

    @Test
    void packages_stay_small() {
        assertThat(SOURCES.fullPackages()).isEmpty();
    }

    @Test
    void every_main_package_has_its_room_sign() {
        assertThat(SOURCES.packagesWithoutSign()).isEmpty();
    }

    @Test
    void every_public_type_has_javadoc() {
        assertThat(SOURCES.typesWithoutJavadoc()).isEmpty();
    }

    @Test
    void every_package_belongs_to_one_module() {
        assertThat(SOURCES.packagesInTwoModules()).isEmpty();
    }

    private static void holds(ArchRule wall) {
        wall.check(product);
    }
}
